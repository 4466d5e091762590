import { rename, rm } from 'node:fs/promises'
import { errorMessage } from '../../errors.ts'
import { type FsyncPolicy, Journal, openNew } from '../journal/journal.ts'
import type { JsonMask } from '../journal/journal-line.ts'
import { LiveLogSchedule } from '../live/live-log-schedule.ts'
import { finishedPathOf, JOURNAL_EXTENSION } from '../log-paths.ts'
import type { HeaderRecord, LogRecord } from '../records/records.ts'
import { finishLog } from './finish-log.ts'

/** No reader of the folder takes a file with this end for a log. */
const UNNAMED = '.part'

export interface LogWriterOptions {
  /** Default: 'records'. */
  readonly fsync?: FsyncPolicy
  /** All that is written passes through it. */
  readonly mask?: JsonMask
  /** Shortest time between two snapshots of the finished log, in milliseconds (default 15,000); false: none before the end. */
  readonly snapshotMs?: number | false
  /** Told when the finished log could not be made, where the journal is then kept, or no snapshot of it. */
  readonly warn?: (message: string) => void
}

export interface ContinueOptions extends LogWriterOptions {
  readonly header: HeaderRecord
  /** Lines of the earlier log, whole and with their ends. */
  readonly carried: AsyncIterable<Buffer>
}

const BATCH_BYTES = 1 << 20

async function* batches(lines: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let batch: Buffer[] = []
  let bytes = 0
  for await (const line of lines) {
    batch.push(line)
    bytes += line.length
    if (bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

const SNAPSHOT_MS = 15_000

/**
 * The log of one eval while it is written: a journal that becomes the finished log when it is closed after its footer, and snapshots of
 * that until then.
 */
export class LogWriter extends Journal {
  readonly #warn: (message: string) => void
  readonly #live: LiveLogSchedule | undefined
  #hasEnd = false
  #finishedPath: string | undefined

  private constructor(parts: ConstructorParameters<typeof Journal>, options: LogWriterOptions) {
    super(...parts)
    const { warn = () => undefined, snapshotMs = SNAPSHOT_MS } = options
    this.#warn = warn
    if (snapshotMs === false) return
    this.#live = new LiveLogSchedule(super.path, {
      everyMs: snapshotMs,
      warn: (error) => warn(`no further snapshots of the log: ${errorMessage(error)}`),
    })
  }

  /** `name` without extension. @throws ConfigError when the folder cannot be written */
  static async open(directory: string, name: string, options: LogWriterOptions = {}): Promise<LogWriter> {
    const { fsync, mask } = options
    const { path, file, lock } = await openNew(directory, name + JOURNAL_EXTENSION)
    return new LogWriter([path, file, { fsync, lock, mask }], options)
  }

  /**
   * A log that begins with a header and lines of an earlier log. It has its name only when all of them are in it: whoever finds it needs no other.
   * @throws ConfigError when the folder cannot be written
   */
  static async continue(directory: string, name: string, options: ContinueOptions): Promise<LogWriter> {
    const { fsync, mask, carried, header } = options
    const { path, file, lock } = await openNew(directory, name + JOURNAL_EXTENSION, UNNAMED)
    const writer = new LogWriter([path, file, { fsync, lock, mask }], options)
    try {
      await writer.append(header)
      for await (const lines of batches(carried)) await writer.copy(lines)
      await file.datasync()
      await rename(path + UNNAMED, path)
      return writer
    } catch (error) {
      await writer.close().catch(() => undefined)
      await rm(path + UNNAMED, { force: true })
      throw error
    }
  }

  /** Of the journal until the finished log is there. */
  override get path(): string {
    return this.#finishedPath ?? super.path
  }

  /** Where the finished log will be. */
  get finishedPath(): string {
    return finishedPathOf(super.path)
  }

  override append(record: LogRecord): Promise<void> {
    if (record.type === 'footer') this.#hasEnd = true
    if (record.type === 'sample') this.#live?.news()
    return super.append(record)
  }

  override async close(): Promise<void> {
    const live = await this.#live?.stop()
    let isWhole = false
    try {
      await super.close()
      isWhole = this.#hasEnd
    } finally {
      if (!isWhole) await live?.close()
    }
    if (!isWhole || this.#finishedPath !== undefined) return
    try {
      const { path } = await finishLog(super.path, { recover: false, live })
      this.#finishedPath = path
    } catch (error) {
      this.#warn(
        `the log stays a journal: ${errorMessage(error)}; belljar log recover ${super.path} makes a finished log of it`,
      )
    }
  }
}
