import { errorMessage, SandboxUnavailableError, UnsupportedError } from '../../../errors.ts'
import { onAbort } from '../../guest/on-abort.ts'
import type { LaunchErrorKind } from '../../sandbox.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { findUnavailable } from '../container/post-mortem.ts'
import { deferred } from '../engine/deferred.ts'
import { type ExecChannel, execExitCode, openExec } from './exec-channel.ts'
import { ExecOutput, type OutputSinks } from './exec-output.ts'
import { killCommand } from './kill.ts'
import { diagnoseLaunch } from './launch.ts'
import { streamStalled } from './stalled-stream.ts'
import { EXEC_VARIABLE, wrapCommand } from './wrapper.ts'

export interface CommandOptions {
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly user?: string | undefined
  readonly stdin?: boolean
  readonly pty?: { readonly columns: number; readonly rows: number } | undefined
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export type Ending =
  | { readonly how: 'exited'; readonly exitCode: number }
  | { readonly how: 'not-launched'; readonly kind: LaunchErrorKind; readonly message: string }
  | { readonly how: 'timeout' }
  | { readonly how: 'stopped'; readonly reason: unknown }

const DRAIN_AFTER_KILL_MS = 1000
const LAUNCH_DEADLINE_MS = 60_000
/** Exit codes above it are of processes that a signal ended. */
const SIGNALLED = 128
/** Of an exec that the Engine could not start. */
const NOT_STARTED = [126, 127, 128]
const FAILURE_KINDS = {
  cwd: 'no-such-cwd',
  fork: 'resources',
  'not-executable': 'not-executable',
  'not-found': 'not-found',
} as const

type Stop =
  | { readonly how: 'timeout' }
  | { readonly how: 'stopped'; readonly reason: unknown }
  | { readonly how: 'abandoned'; readonly error: SandboxUnavailableError }

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Waits for the first of several things, for so long at most; the timer goes with the wait. */
async function atMost(ms: number, waits: readonly unknown[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([...waits, late]).finally(() => clearTimeout(timer))
}

/** One command in a container, from the exec call until it has ended, and the tree below it is dead where that was asked for. */
export class Command {
  readonly argv: readonly string[]
  readonly #container: ContainerRef
  readonly #options: CommandOptions
  readonly #sinks: OutputSinks
  readonly #stop = deferred<Stop>()
  readonly #id: string
  readonly #wrapped: ReturnType<typeof wrapCommand>
  #channel: ExecChannel | undefined
  #output: ExecOutput | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(
    container: ContainerRef,
    argv: readonly string[],
    options: CommandOptions & { readonly sinks: OutputSinks },
  ) {
    this.argv = argv
    this.#container = container
    this.#options = options
    this.#sinks = options.sinks
    this.#wrapped = wrapCommand(argv, options.cwd)
    this.#id = this.#wrapped.id
  }

  get channel(): ExecChannel | undefined {
    return this.#channel
  }

  get pid(): number | undefined {
    return this.#output?.report.pid
  }

  /** Ends the command early, whether it has started or not. */
  stop(reason: unknown): void {
    this.#stop.resolve({ how: 'stopped', reason })
  }

  /** Ends the wait for it with an error; it is killed when its container, which is paused, goes on. */
  abandon(error: SandboxUnavailableError, goesOn: Promise<void>): void {
    this.#stop.resolve({ how: 'abandoned', error })
    void goesOn.then(() => killCommand(this.#container, this.#killTarget())).catch(() => undefined)
  }

  /** Resolves when the command has started or will not. @throws SandboxUnavailableError */
  async start(): Promise<void> {
    const { env = {}, user, stdin, pty } = this.#options
    const environment = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    try {
      this.#channel = await openExec(this.#container, {
        argv: this.#wrapped.argv,
        env: [...environment, `${EXEC_VARIABLE}=${this.#id}`],
        user,
        stdin: stdin ?? false,
        pty,
      })
    } catch (error) {
      throw await this.#unavailable(error)
    }
    const options = { prefix: this.#wrapped.prefix, pty: pty !== undefined, sinks: this.#sinks }
    this.#output = new ExecOutput(this.#channel.socket, options)
    await atMost(LAUNCH_DEADLINE_MS, [this.#output.started, this.#stop.promise])
  }

  /** @throws SandboxUnavailableError */
  async end(): Promise<Ending> {
    const { timeoutMs, signal } = this.#options
    const abort = () => this.stop(signal?.reason)
    if (signal?.aborted) abort()
    const aborting = onAbort(signal, abort)
    const over = new AbortController()
    try {
      if (timeoutMs !== undefined) {
        this.#timer = setTimeout(() => this.#stop.resolve({ how: 'timeout' }), timeoutMs)
      }
      const stop = await Promise.race([this.#output?.drained, this.#stop.promise, this.#stalled(over.signal)])
      return stop ? await this.#killed(stop) : await this.#ended()
    } finally {
      over.abort()
      clearTimeout(this.#timer)
      aborting[Symbol.dispose]()
      this.#channel?.socket.destroy()
    }
  }

  /** Rejects when its stream is dead although it seems open; never settles otherwise. */
  async #stalled(signal: AbortSignal): Promise<never> {
    if (this.#channel && this.#output)
      await streamStalled(this.#channel.exec, this.#output, signal).catch(() => undefined)
    if (this.#channel && !signal.aborted)
      throw await this.#lost(new Error('its stream brought nothing more although it had ended'))
    return new Promise<never>(() => undefined)
  }

  #killTarget() {
    return { id: this.#id, wrapperPid: this.pid, user: this.#options.user }
  }

  async #killed(stop: Stop): Promise<Ending> {
    if (stop.how === 'abandoned') throw stop.error
    // A kill that comes before the first process exists would find nothing.
    await atMost(LAUNCH_DEADLINE_MS, [this.#output?.started])
    await killCommand(this.#container, this.#killTarget())
    await atMost(DRAIN_AFTER_KILL_MS, [this.#output?.closed])
    return stop
  }

  async #ended(): Promise<Ending> {
    const { report, error, isComplete } = this.#output ?? { report: {}, error: undefined, isComplete: false }
    if (report.failure) return this.#notLaunched(FAILURE_KINDS[report.failure])
    if (report.exitStatus !== undefined && isComplete) return { how: 'exited', exitCode: report.exitStatus }
    return this.#endedWithoutReport(error)
  }

  /** The stream is over and the wrapper has not said how the command ended: it was killed, or never ran, or the stream was cut off. */
  async #endedWithoutReport(error: Error | undefined): Promise<Ending> {
    let exitCode: number
    try {
      if (!this.#channel || error) throw error ?? new Error('the exec has no stream')
      exitCode = await execExitCode(this.#channel.exec)
    } catch (cause) {
      throw await this.#lost(cause)
    }
    const dead = await this.#dyingContainer()
    if (dead) throw dead
    if (this.pid !== undefined && exitCode > SIGNALLED) return { how: 'exited', exitCode }
    if (this.pid !== undefined) throw await this.#lost(new Error('the end of its output is missing'))
    if (!NOT_STARTED.includes(exitCode)) throw await this.#lost(new Error('its output is missing'))
    return this.#notLaunched(await this.#diagnosis())
  }

  /** @throws UnsupportedError, SandboxUnavailableError */
  async #diagnosis(): Promise<LaunchErrorKind> {
    try {
      return await diagnoseLaunch(this.#container, this.argv, this.#options.user)
    } catch (error) {
      throw error instanceof UnsupportedError ? error : await this.#lost(error)
    }
  }

  /** The connection to the command is gone, but the command may run on: it is killed, and never started again. */
  async #lost(cause: unknown): Promise<unknown> {
    const unavailable = await this.#unavailable(cause)
    if (unavailable.reason !== 'unknown') return unavailable
    return killCommand(this.#container, this.#killTarget()).then(
      () => unavailable,
      (error: unknown) => error,
    )
  }

  /** The stream of a dying container ends a moment before the container is reported as dead. */
  async #dyingContainer(): Promise<SandboxUnavailableError | undefined> {
    for (const pauseMs of [0, 50, 150, 300]) {
      await pause(pauseMs)
      const dead = await findUnavailable(this.#container)
      if (dead) return dead
    }
    return undefined
  }

  #notLaunched(kind: LaunchErrorKind): Ending {
    const name = JSON.stringify(this.argv[0])
    const messages: Readonly<Record<LaunchErrorKind, string>> = {
      'no-such-cwd': `the working directory ${JSON.stringify(this.#options.cwd)} cannot be entered`,
      'not-found': `${name} was not found (or the interpreter that it names)`,
      'not-executable': `${name} cannot be executed`,
      'no-such-user': `there is no user ${JSON.stringify(this.#options.user)} in the sandbox`,
      'arguments-too-long': 'the arguments and environment are longer than the kernel allows',
      resources: 'no further process could be made in the sandbox',
      other: 'the engine could not start the command',
    }
    return { how: 'not-launched', kind, message: messages[kind] }
  }

  async #unavailable(cause: unknown): Promise<SandboxUnavailableError> {
    const found = await findUnavailable(this.#container, cause)
    return (
      found ??
      new SandboxUnavailableError(
        `the sandbox service '${this.#container.service}' lost a command: ${errorMessage(cause)}`,
        { reason: 'unknown', service: this.#container.service, cause },
      )
    )
  }
}
