import { UnsupportedError } from '../../errors.ts'
import type { ProcessExit, SandboxProcess, SpawnOptions } from '../sandbox.ts'
import { killCommand } from './commands.ts'
import { type Exchange, type GuestConnection, GuestLostError } from './connection.ts'
import { type GuestExit, isUserSwitchRefused, mayBeTheEnd, readExit } from './exit.ts'
import { FieldReader, FieldWriter, fieldNumber } from './fields.ts'
import { InputSender, OutputReceiver, toBytes } from './flow.ts'
import type { Frame } from './frame.ts'
import { onAbort } from './on-abort.ts'
import { Channel, FrameType, Tag } from './protocol.ts'
import { checkCommand, runFields } from './run-fields.ts'

const OUTPUT_WINDOW = 1024 * 1024

export interface GuestSpawnOptions extends SpawnOptions {
  readonly strict?: boolean
  /** What readers and waiters are told when the guest is lost; default: the loss itself. */
  readonly explain?: (lost: GuestLostError) => Promise<Error>
}

/** Starts a command with live output; resolves when it runs or could not be started. */
export async function spawnOnGuest(
  connection: GuestConnection,
  command: readonly string[],
  options: GuestSpawnOptions = {},
): Promise<SandboxProcess> {
  checkCommand(command, options.timeoutMs)
  options.signal?.throwIfAborted()
  const stdin = options.stdin ?? false
  const payload = runFields({ ...options, command, stdin, credit: OUTPUT_WINDOW })
  if (!payload) throw new UnsupportedError('the arguments and environment are too long to be sent')
  const process = new GuestProcess(connection, { command, payload, explain: options.explain })
  if (options.pty) process.endStderr()
  const aborting = onAbort(options.signal, () => void process.kill().catch(() => undefined))
  void process
    .wait()
    .catch(() => undefined)
    .finally(() => aborting[Symbol.dispose]())
  await process.started
  return process
}

interface ProcessStart {
  readonly command: readonly string[]
  readonly payload: Buffer
  readonly explain: GuestSpawnOptions['explain']
}

class GuestProcess implements SandboxProcess {
  readonly stdout: OutputReceiver
  readonly stderr: OutputReceiver
  readonly started: Promise<void>
  readonly #connection: GuestConnection
  readonly #start: ProcessStart
  readonly #exchange: Exchange
  readonly #input: InputSender
  readonly #exit: Promise<ProcessExit>
  #pid: number | undefined
  #open = 3
  #onStarted!: (error?: Error) => void
  #onExit!: (exit: ProcessExit | Error) => void

  constructor(connection: GuestConnection, start: ProcessStart) {
    this.#connection = connection
    this.#start = start
    this.started = new Promise((resolve, reject) => {
      this.#onStarted = (error) => (error ? reject(error) : resolve())
    })
    this.#exit = new Promise((resolve, reject) => {
      this.#onExit = (exit) => (exit instanceof Error ? reject(exit) : resolve(exit))
    })
    this.#exit.catch(() => undefined)
    this.stdout = new OutputReceiver(OUTPUT_WINDOW, (bytes) => this.#grant(Channel.stdout, bytes))
    this.stderr = new OutputReceiver(OUTPUT_WINDOW, (bytes) => this.#grant(Channel.stderr, bytes))
    this.#input = new InputSender(connection.welcome.window, (type, data) => this.#exchange.send(type, data))
    this.#exchange = connection.open(FrameType.run, start.payload, {
      frame: (frame) => this.#take(frame),
      lost: (error) => void this.#lose(error),
    })
  }

  /** A terminal has one stream only. */
  endStderr(): void {
    this.stderr.end()
    this.#closeOne()
  }

  get pid(): number | undefined {
    return this.#pid
  }

  write(data: string | Uint8Array): Promise<void> {
    return this.#input.write(toBytes(data))
  }

  closeStdin(): Promise<void> {
    return this.#input.end()
  }

  async resize(columns: number, rows: number): Promise<void> {
    const fields = new FieldWriter().add(Tag.columns, columns).add(Tag.rows, rows)
    this.#exchange.send(FrameType.resize, fields.finish())
  }

  async kill(options: { graceMs?: number } = {}): Promise<void> {
    await killCommand(
      this.#connection,
      { id: this.#exchange.id, name: this.#start.command[0] ?? '' },
      options,
    )
  }

  wait(): Promise<ProcessExit> {
    return this.#exit
  }

  #grant(channel: number, bytes: number): void {
    const payload = Buffer.alloc(9)
    payload[0] = channel
    payload.writeBigUInt64LE(BigInt(bytes), 1)
    this.#exchange.send(FrameType.credit, payload)
  }

  #take(frame: Frame): void {
    if (frame.type === FrameType.data) this.#stream(frame).push(frame.payload.subarray(1))
    else if (frame.type === FrameType.credit) this.#input.grant(fieldNumber(frame.payload.subarray(1)))
    else if (frame.type === FrameType.started) this.#takeStarted(frame)
    else if (frame.type === FrameType.end) {
      this.#stream(frame).end()
      this.#closeOne()
    } else if (frame.type === FrameType.exit) this.#takeExit(frame)
  }

  #stream(frame: Frame): OutputReceiver {
    return frame.payload[0] === Channel.stderr ? this.stderr : this.stdout
  }

  #takeStarted(frame: Frame): void {
    this.#pid = new FieldReader(frame.payload).number(Tag.pid)
    this.#onStarted()
  }

  #takeExit(frame: Frame): void {
    this.#input.stop()
    if (isUserSwitchRefused(frame.payload)) {
      const refused = new UnsupportedError('the guest may not switch users in this sandbox')
      this.#onStarted(refused)
      this.#onExit(refused)
    } else {
      this.#settleExit(frame)
    }
    this.#closeOne()
  }

  #settleExit(frame: Frame): void {
    try {
      const exit = readExit(frame.payload, this.#start.command)
      if (exit.launchError) for (const stream of [this.stdout, this.stderr]) stream.end()
      const alive = mayBeTheEnd(exit) ? this.#connection.ping() : Promise.resolve()
      void alive.then(
        () => this.#onExit(toExit(exit)),
        (lost: Error) => this.#lose(lost),
      )
    } catch (error) {
      this.#onExit(error as Error)
    }
    this.#onStarted()
  }

  /** Output may still come after the exit, as it is read. */
  #closeOne(): void {
    this.#open--
    if (this.#open === 0) this.#exchange.end()
  }

  async #lose(lost: Error): Promise<void> {
    const { explain } = this.#start
    const error = explain && lost instanceof GuestLostError ? await explain(lost) : lost
    this.#input.stop(error)
    this.stdout.end(error)
    this.stderr.end(error)
    this.#onStarted(error)
    this.#onExit(error)
  }
}

function toExit({ exitCode, signal, durationMs, timedOut, launchError }: GuestExit): ProcessExit {
  return { exitCode, signal, durationMs, timedOut, ...(launchError && { launchError }) }
}
