import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RunEvent } from '../../src/run/run-event.ts'
import type { KeptSandbox, LeftObject } from '../../src/sandbox/provider.ts'
import { tempDir } from './temp-dir.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export type CliEvent =
  | RunEvent
  | {
      readonly type: 'run-end'
      readonly run: string
      readonly left: readonly LeftObject[]
      readonly kept: readonly KeptSandbox[]
    }

export interface CliResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  readonly events: readonly CliEvent[]
}

/** The built command line as a child process, in a folder of its own that holds the given files. */
export class Cli implements AsyncDisposable {
  readonly #directory: AsyncDisposable & { path: string }
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  readonly #watchers = new Set<() => void>()
  #stdout = ''
  #stderr = ''

  private constructor(
    directory: AsyncDisposable & { path: string },
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ) {
    this.#directory = directory
    this.#child = spawn(process.execPath, [MAIN, ...args], {
      cwd: directory.path,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
      for (const watcher of this.#watchers) watcher()
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
      for (const watcher of this.#watchers) watcher()
    })
    this.#ended = new Promise((resolve) => this.#child.on('close', resolve))
  }

  static async start(
    args: readonly string[],
    files: Readonly<Record<string, string>> = {},
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Cli> {
    const directory = await tempDir()
    for (const [name, content] of Object.entries(files)) {
      const path = join(directory.path, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, content)
    }
    return new Cli(directory, args, environment)
  }

  get directory(): string {
    return this.#directory.path
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Resolves with the first `--json` event that fits, also when it has been printed already. */
  event(fits: (event: CliEvent) => boolean): Promise<CliEvent> {
    return this.#printed('the event', () => eventsIn(this.#stdout).find(fits))
  }

  /** Resolves when a text has come on stderr. */
  async said(text: string): Promise<void> {
    await this.#printed(text, () => this.#stderr.includes(text) || undefined)
  }

  /** Id of its run. */
  async runId(): Promise<string> {
    const start = await this.event(({ type }) => type === 'run-start')
    return start.type === 'run-start' ? start.run : ''
  }

  #printed<T>(what: string, find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = find()
        if (found === undefined) return
        this.#watchers.delete(look)
        resolve(found)
      }
      this.#watchers.add(look)
      void this.#ended.then((code) =>
        reject(new Error(`belljar ended (${code}) without ${what}:\n${this.#stderr}`)),
      )
      look()
    })
  }

  async end(): Promise<CliResult> {
    const exitCode = await this.#ended
    return { exitCode, stdout: this.#stdout, stderr: this.#stderr, events: eventsIn(this.#stdout) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGINT')
    await this.#ended
    await this.#directory[Symbol.asyncDispose]()
  }
}

/** Runs the command line to its end. */
export async function cli(
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  await using run = await Cli.start(args, files, environment)
  return await run.end()
}

function eventsIn(stdout: string): CliEvent[] {
  const lines = stdout.split('\n').slice(0, -1)
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as CliEvent)
}
