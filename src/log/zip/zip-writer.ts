import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { crc32, deflateRaw, deflateRawSync } from 'node:zlib'
import { centralDirectory, localHeader, type ZipMember } from './zip-records.ts'

const deflate = promisify(deflateRaw)
/** Smaller content is compressed at once, as handing it to another thread costs more. */
const SMALL_BYTES = 32_768
/** A third of the time of the usual level, for a tenth more bytes. */
export const LARGE_LEVEL = 4
const WRITE_BYTES = 1 << 20

/** Content of a member that is compressed already. */
export interface CompressedContent {
  readonly data: readonly Buffer[]
  readonly crc: number
  readonly size: number
}

/**
 * Writes a ZIP file from front to back, member names exactly as given (an id may hold `..` or a backslash). While one member is compressed and
 * written, the caller may prepare the next; no more than that is held.
 */
export class ZipWriter {
  readonly #file: FileHandle
  readonly #members: ZipMember[] = []
  #offset = 0
  #pending: Buffer[] = []
  #pendingBytes = 0
  #last: Promise<void> = Promise.resolve()

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /** A new file; one that exists is replaced. */
  static async create(path: string): Promise<ZipWriter> {
    return new ZipWriter(await open(path, 'w'))
  }

  get members(): readonly ZipMember[] {
    return this.#members
  }

  /** Rejects when an earlier member could not be written. */
  async add(name: string, content: string): Promise<void> {
    await this.#last
    this.#last = compressed(content).then((result) => this.#write(name, result))
    this.#last.catch(() => undefined)
  }

  async addCompressed(name: string, content: CompressedContent): Promise<void> {
    await this.#last
    await this.#write(name, content)
  }

  /** Writes the directory of members; resolves when all of it is on the disk. */
  async end(): Promise<void> {
    await this.#last
    this.#push([centralDirectory(this.#members, this.#offset)])
    await this.#flush()
    await this.#file.datasync()
    await this.#file.close()
  }

  /** Closes the file, unfinished as it is. */
  async abandon(): Promise<void> {
    await this.#last.catch(() => undefined)
    await this.#file.close().catch(() => undefined)
  }

  async #write(name: string, { data, crc, size }: CompressedContent): Promise<void> {
    const compressedSize = data.reduce((sum, { length }) => sum + length, 0)
    const member: ZipMember = { name, crc, size, compressedSize, offset: this.#offset }
    this.#members.push(member)
    this.#push([localHeader(member), ...data])
    if (this.#pendingBytes >= WRITE_BYTES) await this.#flush()
  }

  #push(buffers: readonly Buffer[]): void {
    for (const buffer of buffers) {
      this.#pending.push(buffer)
      this.#pendingBytes += buffer.length
      this.#offset += buffer.length
    }
  }

  async #flush(): Promise<void> {
    const buffers = this.#pending
    this.#pending = []
    this.#pendingBytes = 0
    await this.#file.appendFile(Buffer.concat(buffers))
  }
}

async function compressed(content: string): Promise<CompressedContent> {
  const bytes = Buffer.from(content)
  const data =
    bytes.length < SMALL_BYTES ? deflateRawSync(bytes) : await deflate(bytes, { level: LARGE_LEVEL })
  return { data: [data], crc: crc32(bytes), size: bytes.length }
}
