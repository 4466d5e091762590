import { randomBytes } from 'node:crypto'
import { stripVTControlCharacters } from 'node:util'
import type { ProcessExit, Sandbox, SandboxProcess } from '../../sandbox/sandbox.ts'

export interface ShellSessionOptions {
  readonly program: readonly string[]
  readonly user?: string | undefined
  readonly cwd?: string | undefined
  readonly signal: AbortSignal
}

/** What came since the last look, and whether the command has ended. */
export interface ShellLook {
  readonly output: string
  readonly state: { readonly exitCode: number } | 'running' | 'ended'
}

const TERMINAL = { columns: 200, rows: 50 }
const KEPT = 1024 * 1024

/**
 * One shell on a terminal. Commands come to it as a file that it reads in, as a line of a terminal holds 4096 bytes; that one has ended is
 * seen by the prompt, which holds the exit code between marks that nothing else prints.
 */
export class ShellSession {
  readonly #sandbox: Sandbox
  readonly #process: SandboxProcess
  readonly #options: ShellSessionOptions
  readonly #mark = randomBytes(8).toString('hex')
  readonly #file = `/tmp/.belljar-shell-${randomBytes(6).toString('hex')}`
  readonly #decoder = new TextDecoder()
  #unseen = ''
  #dropped = false
  #exit: ProcessExit | undefined
  #running = true
  #wake: (() => void) | undefined

  private constructor(sandbox: Sandbox, process: SandboxProcess, options: ShellSessionOptions) {
    this.#sandbox = sandbox
    this.#process = process
    this.#options = options
    void this.#read()
  }

  /** Resolves when the shell waits for a command. @throws what `spawn` throws; Error when the program is no shell */
  static async start(sandbox: Sandbox, options: ShellSessionOptions): Promise<ShellSession> {
    const { program, user, cwd, signal } = options
    const env = { TERM: 'dumb', PS1: '', PS2: '', HISTFILE: '' }
    const process = await sandbox.spawn(program, { user, cwd, env, signal, stdin: true, pty: TERMINAL })
    const session = new ShellSession(sandbox, process, options)
    await process.write(`PS1='${session.#mark}$?${session.#mark}' PS2=\n`)
    const { output, state } = await session.look(10_000)
    if (typeof state !== 'object')
      throw new Error(session.#exit?.launchError?.message ?? `it showed no prompt: ${output.slice(-500)}`)
    return session
  }

  get isRunning(): boolean {
    return this.#running && this.#exit === undefined
  }

  get hasEnded(): boolean {
    return this.#exit !== undefined
  }

  async run(command: string): Promise<void> {
    const { user, signal } = this.#options
    await this.#sandbox.writeFile(this.#file, `${command}\n`, { mode: 0o600, user, signal })
    this.#running = true
    await this.#process.write(`. ${this.#file}\n`)
  }

  type(text: string): Promise<void> {
    return this.#process.write(text)
  }

  async end(): Promise<void> {
    await this.#process.kill().catch(() => undefined)
    await this.#sandbox.remove(this.#file, { user: this.#options.user, force: true }).catch(() => undefined)
  }

  /** Waits for the command's end, at most so long. @throws the signal's reason */
  async look(waitMs: number): Promise<ShellLook> {
    const until = performance.now() + waitMs
    while (!this.#prompt() && !this.#exit) {
      this.#options.signal.throwIfAborted()
      const leftMs = until - performance.now()
      if (leftMs <= 0) return { output: this.#take(this.#unseen), state: 'running' }
      await this.#change(leftMs)
    }
    const prompt = this.#prompt()
    if (!prompt) return { output: this.#take(this.#unseen), state: 'ended' }
    this.#running = false
    const output = this.#unseen.slice(0, prompt.index)
    this.#unseen = this.#unseen.slice(prompt.index + prompt[0].length)
    return { output: this.#take(output, this.#unseen), state: { exitCode: Number(prompt[1]) } }
  }

  #prompt(): RegExpExecArray | null {
    return new RegExp(`${this.#mark}(\\d+)${this.#mark}`).exec(this.#unseen)
  }

  /** As a reader would see it: without escape codes and the line that was typed. */
  #take(output: string, rest = ''): string {
    this.#unseen = rest
    const text = stripVTControlCharacters(output).replaceAll('\r\n', '\n').replaceAll(`. ${this.#file}\n`, '')
    const dropped = this.#dropped ? '[the beginning of the output was dropped]\n' : ''
    this.#dropped = false
    return `${dropped}${text}`
  }

  #change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.#options
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal.addEventListener('abort', done, { once: true })
      this.#wake = done
    })
  }

  async #read(): Promise<void> {
    try {
      for await (const bytes of this.#process.stdout) {
        this.#unseen += this.#decoder.decode(bytes, { stream: true })
        if (this.#unseen.length > KEPT) {
          this.#unseen = this.#unseen.slice(-KEPT / 2)
          this.#dropped = true
        }
        this.#wake?.()
      }
    } catch {
      // how it ended is told by `wait`
    }
    this.#exit = await this.#process
      .wait()
      .catch(() => ({ exitCode: null, signal: null, durationMs: 0, timedOut: false }))
    this.#wake?.()
  }
}
