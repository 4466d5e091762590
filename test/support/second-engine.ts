import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** An engine that a test has started for itself, and may kill and start again. */
export class SecondEngine implements AsyncDisposable {
  readonly name: string
  readonly host: string
  readonly #config: string | undefined

  private constructor(name: string, host: string, config: string | undefined) {
    this.name = name
    this.host = host
    this.#config = config
  }

  /** `config`: its daemon.json. */
  static async start(name: string, config?: string): Promise<SecondEngine> {
    return new SecondEngine(name, await script('start', name, config), config)
  }

  get socket(): string {
    return this.host.replace('unix://', '')
  }

  /** As kill -9 does; its containers run on. */
  async kill(): Promise<void> {
    await script('kill', this.name)
  }

  /** After it was killed. */
  async startAgain(): Promise<void> {
    await script('start', this.name, this.#config)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await script('stop', this.name)
  }
}

async function script(command: string, name: string, config?: string): Promise<string> {
  const { DOCKER_HOST: _found, ...environment } = process.env
  const env = { ...environment, ...(config !== undefined && { BELLJAR_ENGINE_CONFIG: config }) }
  const { stdout } = await promisify(execFile)('bash', ['scripts/second-engine.sh', command, name], { env })
  return stdout.trim().split('\n').at(-1) ?? ''
}
