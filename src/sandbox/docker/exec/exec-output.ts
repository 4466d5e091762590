import type { Duplex } from 'node:stream'
import { deferred } from '../engine/deferred.ts'
import { Demuxer, type StreamName } from './demuxer.ts'
import { type Mark, MarkScanner } from './mark-scanner.ts'

export interface OutputSinks {
  stdout(data: Buffer): void
  stderr(data: Buffer): void
}

/** What the wrapper has said so far. */
export interface WrapperReport {
  pid?: number
  /** Why the command never started. */
  failure?: 'cwd' | 'fork' | 'not-executable' | 'not-found'
  exitStatus?: number
}

/** Reads a hijacked stream to its end, always: marks to a report, the rest to the sinks. */
export class ExecOutput {
  readonly report: WrapperReport = {}
  /** The command has ended and all that it wrote has arrived; or the stream has ended (then `error` may say why). */
  readonly drained: Promise<void>
  readonly started: Promise<void>
  readonly closed: Promise<void>
  error: Error | undefined
  readonly #drained = deferred<void>()
  readonly #started = deferred<void>()
  readonly #closed = deferred<void>()
  readonly #endMarks = new Set<StreamName>()
  readonly #pty: boolean
  #receivedBytes = 0

  constructor(socket: Duplex, options: { prefix: string; pty: boolean; sinks: OutputSinks }) {
    const { prefix, pty, sinks } = options
    this.#pty = pty
    this.drained = this.#drained.promise
    this.started = this.#started.promise
    this.closed = this.#closed.promise
    const scanner = (stream: StreamName) =>
      new MarkScanner(
        prefix,
        (data) => sinks[stream](data),
        (mark) => this.#onMark(stream, mark),
      )
    const scanners = { stdout: scanner('stdout'), stderr: scanner('stderr') }
    this.#read(socket, scanners)
  }

  get receivedBytes(): number {
    return this.#receivedBytes
  }

  /** All that the command wrote has arrived: each stream has brought the wrapper's last mark. */
  get isComplete(): boolean {
    return this.#endMarks.size === (this.#pty ? 1 : 2)
  }

  #read(socket: Duplex, scanners: Record<StreamName, MarkScanner>): void {
    const demuxer = new Demuxer((stream, payload) => scanners[stream].push(payload))
    const push = this.#pty
      ? (chunk: Buffer) => scanners.stdout.push(chunk)
      : (chunk: Buffer) => demuxer.push(chunk)
    socket.on('data', (chunk: Buffer) => {
      this.#receivedBytes += chunk.length
      try {
        push(chunk)
      } catch (error) {
        socket.destroy(error as Error)
      }
    })
    socket.on('error', (error: Error) => {
      this.error ??= error
    })
    const finish = () => {
      if (demuxer.incomplete) this.error ??= new Error('the stream of the exec ended inside a frame')
      scanners.stdout.finish()
      scanners.stderr.finish()
      for (const end of [this.#started, this.#drained, this.#closed]) end.resolve()
    }
    socket.once('end', finish)
    socket.once('close', finish)
  }

  #onMark(stream: StreamName, { letter, value }: Mark): void {
    if (letter === 's') {
      this.report.pid = value
      this.#started.resolve()
    }
    if (letter === 'c') this.report.failure = 'cwd'
    if (letter === 'f') this.report.failure = 'fork'
    if (letter === 'l') this.report.failure = value === 126 ? 'not-executable' : 'not-found'
    if (letter === 'e') {
      this.report.exitStatus = value
      this.#endMarks.add(stream)
    }
    if (this.isComplete || letter === 'c' || letter === 'f') this.#drained.resolve()
  }
}
