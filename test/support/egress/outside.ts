import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('outside.mjs', import.meta.url))
const ENGINES = '/var/lib/belljar-engines'
/** TEST-NET-3 (RFC 5737) for hosts, and the metadata service of clouds. */
const ADDRESSES = ['203.0.113.10/32', '203.0.113.20/32', '169.254.169.254/32', 'fd00:99::10/128']

/** Where a daemon of this host sends what it is asked for. */
function hostResolver(): string {
  const found = /^nameserver\s+(\d+\.\d+\.\d+\.\d+)/m.exec(readFileSync('/etc/resolv.conf', 'utf8'))
  return found?.[1] ?? '8.8.8.8'
}

/** A second engine, whose network namespace holds stand-ins for everything that a sandbox must not reach. */
export class Outside implements Disposable {
  readonly host: string
  readonly resolver = hostResolver()
  /** Names that the resolver was asked for. */
  readonly asked: string[] = []
  readonly #name: string
  #process: ChildProcess | undefined

  private constructor(name: string, host: string) {
    this.#name = name
    this.host = host
  }

  static async open(name: string, images: readonly string[] = []): Promise<Outside> {
    const printed = execFileSync('bash', ['scripts/second-engine.sh', 'start', name], { encoding: 'utf8' })
    const outside = new Outside(name, printed.trim().split('\n').at(-1) ?? '')
    try {
      for (const image of images) outside.#load(image)
      await outside.#standIn()
      return outside
    } catch (error) {
      outside[Symbol.dispose]()
      throw error
    }
  }

  get environment(): NodeJS.ProcessEnv {
    return { ...process.env, DOCKER_HOST: this.host }
  }

  [Symbol.dispose](): void {
    this.#process?.kill('SIGKILL')
    execFileSync('bash', ['scripts/second-engine.sh', 'stop', this.#name])
  }

  #load(image: string): void {
    execFileSync('sh', ['-c', 'docker save "$1" | DOCKER_HOST="$0" docker load', this.host, image])
  }

  async #standIn(): Promise<void> {
    const daemon = readFileSync(`${ENGINES}/${this.#name}/docker.pid`, 'utf8').trim()
    const inside = ['--net', '--target', daemon]
    const loopback = this.resolver.startsWith('127.') ? [] : [`${this.resolver}/32`]
    for (const address of [...ADDRESSES, ...loopback]) {
      execFileSync('nsenter', [...inside, 'ip', 'address', 'replace', address, 'dev', 'lo'])
    }
    const words = [...inside, process.execPath, PROGRAM, this.resolver, '203.0.113.20']
    const child = spawn('nsenter', words, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#process = child
    const lines = createInterface({ input: child.stdout })
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the stand-ins ended with exit code ${code}`)))
      lines.on('line', (line) => {
        if (line === 'ready') resolve()
        else this.asked.push(line.replace('asked ', ''))
      })
    })
  }
}
