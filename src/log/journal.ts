import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, errorMessage } from '../errors.ts'
import { toJsonLine } from './jsonl.ts'
import type { LogRecord } from './records.ts'

/**
 * The append-only log of one eval: a record a line. Lines that come while a write is under way go out together with the next,
 * in the order in which they were appended.
 */
export class Journal implements AsyncDisposable {
  readonly path: string
  readonly #file: FileHandle
  /** Lines that the next write takes, and that write. */
  #lines: string[] = []
  #next: Promise<void> | undefined
  #last: Promise<void> = Promise.resolve()

  private constructor(path: string, file: FileHandle) {
    this.path = path
    this.#file = file
  }

  /** Makes the folder and a new file in it; never opens one that exists. @throws ConfigError when it cannot be written */
  static async create(directory: string, name: string): Promise<Journal> {
    const path = join(directory, name)
    try {
      await mkdir(directory, { recursive: true })
      return new Journal(path, await open(path, 'ax'))
    } catch (error) {
      throw new ConfigError(
        `cannot write the log: ${errorMessage(error)}; name another folder with --log-dir`,
        { where: path, cause: error },
      )
    }
  }

  /** Resolves when the record is in the file. Rejects for good once a write has failed: the log then ends where it ends. */
  append(record: LogRecord): Promise<void> {
    this.#lines.push(toJsonLine(record))
    if (this.#next === undefined) {
      this.#next = this.#writeAfter(this.#last)
      this.#last = this.#next
    }
    return this.#next
  }

  /** As `append`, for records that nothing waits for; a failure shows at the next `append` that is awaited. */
  note(record: LogRecord): void {
    this.append(record).catch(() => undefined)
  }

  /** Rejects when a write has failed; the file is closed all the same. */
  async close(): Promise<void> {
    try {
      await this.#last
    } finally {
      await this.#file.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Each write has a promise of its own: what is in the file stays so, whatever happens to later lines. */
  async #writeAfter(earlier: Promise<void>): Promise<void> {
    const isWritable = await earlier.then(
      () => true,
      () => false,
    )
    const lines = this.#lines
    this.#lines = []
    this.#next = undefined
    if (!isWritable) return earlier
    await this.#file.appendFile(lines.join(''))
  }
}
