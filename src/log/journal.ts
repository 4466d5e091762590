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
  #pending: string[] = []
  #writing: Promise<void> | undefined
  #failure: unknown

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
    this.#pending.push(toJsonLine(record))
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  /** As `append`, for records that nothing waits for; a failure shows at the next `append` that is awaited. */
  note(record: LogRecord): void {
    this.append(record).catch(() => this.#failure)
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#file.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve()
    while (this.#pending.length > 0) {
      if (this.#failure) throw this.#failure
      const lines = this.#pending
      this.#pending = []
      try {
        await this.#file.appendFile(lines.join(''))
      } catch (error) {
        this.#failure = error
        throw error
      }
    }
  }
}
