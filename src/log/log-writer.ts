import { errorMessage } from '../errors.ts'
import { finishLog } from './finish-log.ts'
import type { JsonMask } from './journal/journal-line.ts'
import { type FsyncPolicy, Journal, openNew } from './journal.ts'
import { finishedPathOf, JOURNAL_EXTENSION } from './log-paths.ts'
import type { LogRecord } from './records.ts'

export interface LogWriterOptions {
  /** Default: 'records'. */
  readonly fsync?: FsyncPolicy
  /** All that is written passes through it. */
  readonly mask?: JsonMask
  /** Told when the finished log could not be made; the journal is then kept. */
  readonly warn?: (message: string) => void
}

/** The log of one eval while it is written: a journal that becomes the finished log when it is closed after its footer. */
export class LogWriter extends Journal {
  readonly #warn: (message: string) => void
  #hasEnd = false
  #finishedPath: string | undefined

  private constructor(parts: ConstructorParameters<typeof Journal>, warn: (message: string) => void) {
    super(...parts)
    this.#warn = warn
  }

  /** `name` without extension. @throws ConfigError when the folder cannot be written */
  static async open(directory: string, name: string, options: LogWriterOptions = {}): Promise<LogWriter> {
    const { fsync, mask, warn = () => undefined } = options
    const { path, file, lock } = await openNew(directory, name + JOURNAL_EXTENSION)
    return new LogWriter([path, file, { fsync, lock, mask }], warn)
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
    return super.append(record)
  }

  override async close(): Promise<void> {
    await super.close()
    if (!this.#hasEnd || this.#finishedPath !== undefined) return
    try {
      const { path } = await finishLog(super.path)
      this.#finishedPath = path
    } catch (error) {
      this.#warn(
        `the log stays a journal: ${errorMessage(error)}; belljar log recover ${super.path} makes a finished log of it`,
      )
    }
  }
}
