import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, errorMessage } from '../../errors.ts'
import { makeFolder } from '../../util/make-folder.ts'
import type { LogRecord } from '../records/records.ts'
import { type JsonMask, toJournalLine } from './journal-line.ts'
import { LogLock } from './log-lock.ts'
import { ToldMessages } from './told-messages.ts'

/** When what was written is forced to the disk: never, whenever a sample has ended (and at start and end), or after every write. */
export type FsyncPolicy = 'never' | 'records' | 'always'

const SYNCED_TYPES: readonly LogRecord['type'][] = ['header', 'sample', 'footer']

export interface JournalOptions {
  /** Default: 'records'. */
  readonly fsync?: FsyncPolicy
  readonly lock?: LogLock
  /** All that is written passes through it. */
  readonly mask?: JsonMask
}

/**
 * The append-only log of one eval: a record a line. Lines that come while a write is under way go out together with the next,
 * in the order in which they were appended.
 */
export class Journal implements AsyncDisposable {
  readonly #path: string
  readonly #file: FileHandle
  readonly #options: JournalOptions
  readonly #told = new ToldMessages()
  /** Lines that the next write takes, whether it must reach the disk, and that write. */
  #lines: Buffer[] = []
  #mustSync = false
  #next: Promise<void> | undefined
  #last: Promise<void> = Promise.resolve()

  /** Over a file that is open for appending. */
  constructor(path: string, file: FileHandle, options: JournalOptions = {}) {
    this.#path = path
    this.#file = file
    this.#options = options
  }

  get path(): string {
    return this.#path
  }

  /** Makes the folder and a new file in it, and locks it; never opens one that exists. @throws ConfigError when it cannot be written */
  static async create(directory: string, name: string, options: JournalOptions = {}): Promise<Journal> {
    const { path, file, lock } = await openNew(directory, name)
    return new Journal(path, file, { ...options, lock })
  }

  /** Resolves when the record is in the file. Rejects for good once a write has failed: the log then ends where it ends. */
  append(record: LogRecord): Promise<void> {
    this.#take(record)
    return this.#write()
  }

  /** As `append`, for lines of another journal, as they are. */
  copy(lines: readonly Buffer[]): Promise<void> {
    this.#lines.push(...lines)
    return this.#write()
  }

  /** As `append`, for records that nothing waits for: they go out with the next, or at once when all that is ready to run has. A failure shows at the next `append`. */
  note(record: LogRecord): void {
    this.#take(record)
    if (this.#next !== undefined || this.#lines.length > 1) return
    setImmediate(() => {
      if (this.#lines.length > 0) this.#write().catch(() => undefined)
    })
  }

  /** Rejects when a write has failed; the file is closed and unlocked all the same. */
  async close(): Promise<void> {
    try {
      await (this.#lines.length > 0 ? this.#write() : this.#last)
    } finally {
      await this.#file.close()
      await this.#options.lock?.release()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #take(record: LogRecord): void {
    const { line, made } = this.#told.prepare(record)
    this.#lines.push(toJournalLine(line, this.#options.mask))
    made()
    this.#mustSync ||= this.#needsSync(record)
  }

  /** Resolves when the lines that have been taken are in the file. */
  #write(): Promise<void> {
    if (this.#next === undefined) {
      this.#next = this.#writeAfter(this.#last)
      this.#last = this.#next
    }
    return this.#next
  }

  #needsSync(record: LogRecord): boolean {
    const { fsync = 'records' } = this.#options
    return fsync === 'always' || (fsync === 'records' && SYNCED_TYPES.includes(record.type))
  }

  /** Each write has a promise of its own: what is in the file stays so, whatever happens to later lines. */
  async #writeAfter(earlier: Promise<void>): Promise<void> {
    const isWritable = await earlier.then(
      () => true,
      () => false,
    )
    const lines = this.#lines
    const mustSync = this.#mustSync
    this.#lines = []
    this.#mustSync = false
    this.#next = undefined
    if (!isWritable) return earlier
    for (const piece of piecesOf(lines)) await writeAll(this.#file, piece)
    if (mustSync) await this.#file.datasync()
  }
}

const PIECE_BYTES = 1 << 20

/** Lines together as far as they make no large piece; a large one is not copied. */
function* piecesOf(lines: readonly Buffer[]): Generator<Buffer> {
  let small: Buffer[] = []
  let size = 0
  for (const line of lines) {
    if (size > 0 && size + line.length > PIECE_BYTES) {
      yield joined(small)
      small = []
      size = 0
    }
    small.push(line)
    size += line.length
  }
  if (size > 0) yield joined(small)
}

function joined(lines: readonly Buffer[]): Buffer {
  const [only] = lines
  return only && lines.length === 1 ? only : Buffer.concat(lines)
}

/** What `appendFile` does, without its cost for pieces as small as ours. */
async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  let written = 0
  while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten
}

export interface OpenJournal {
  readonly path: string
  readonly file: FileHandle
  readonly lock: LogLock
}

/** A new file, locked; the folder is made. `suffix`: what it is called until it takes its name. @throws ConfigError */
export async function openNew(directory: string, name: string, suffix = ''): Promise<OpenJournal> {
  const path = join(directory, name)
  try {
    await makeFolder(directory)
    const lock = await LogLock.acquire(path)
    const file = await open(path + suffix, 'ax').catch(async (error: unknown) => {
      await lock.release()
      throw error
    })
    return { path, file, lock }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(
      `cannot write the log: ${errorMessage(error)}; name another folder with --log-dir`,
      { where: path, cause: error },
    )
  }
}
