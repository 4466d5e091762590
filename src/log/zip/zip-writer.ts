import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib'
import { localHeader, ZipDirectory, type ZipMember, ZSTANDARD } from './zip-records.ts'
import { zstandard } from './zstandard.ts'

const deflate = promisify(deflateRaw)
/** Smaller content is compressed at once, as handing it to another thread costs more. */
const SMALL_BYTES = 32_768
/** From here on most repeats are further apart than deflate can see. */
const FAR_BYTES = 131_072
/** A third of the time of the usual level, for a tenth more bytes. */
export const LARGE_LEVEL = 4
/** Each piece of output costs a turn of the event loop. */
export const OUTPUT_BYTES = 262_144
const WRITE_BYTES = 1 << 20
/** A file that is readable while it is written grows by so much at most, with a directory, in one write. */
const MAX_LIVE_BYTES = 16_777_216

export interface ZipWriterOptions {
  /** A new file that is readable from the first `publish` on; one that exists is an error. */
  readonly live?: boolean
}

/** Content of a member that is compressed already. */
export interface CompressedContent {
  readonly data: readonly Buffer[]
  readonly crc: number
  readonly size: number
  /** How (default DEFLATED). */
  readonly method?: number
}

/**
 * Writes a ZIP file from front to back, member names exactly as given (an id may hold `..` or a backslash). While one member is compressed and
 * written, the caller may prepare the next; no more than that is held.
 */
export class ZipWriter {
  readonly #file: FileHandle
  readonly #isLive: boolean
  readonly #directory = new ZipDirectory()
  #offset = 0
  #pending: Buffer[] = []
  #pendingBytes = 0
  #publishedDirectoryBytes = 0
  #last: Promise<void> = Promise.resolve()

  private constructor(file: FileHandle, isLive: boolean) {
    this.#file = file
    this.#isLive = isLive
  }

  /** A new file; one that exists is replaced. */
  static async create(path: string, { live = false }: ZipWriterOptions = {}): Promise<ZipWriter> {
    return new ZipWriter(await open(path, live ? 'wx' : 'w'), live)
  }

  /** Bytes of members that are not in the file yet, and of the last directory that is in it. */
  get unpublished(): { readonly members: number; readonly directory: number } {
    return { members: this.#pendingBytes, directory: this.#publishedDirectoryBytes }
  }

  /** Makes a live file readable with all members there are. What is in it stays where it is, directories that are outdated too. */
  async publish(): Promise<void> {
    await this.#last
    await this.#publish()
  }

  get memberCount(): number {
    return this.#directory.count
  }

  /** Rejects when an earlier member could not be written. */
  async add(name: string, content: string | Buffer): Promise<void> {
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
    this.#push(this.#directory.end(this.#offset))
    await this.#flush()
    await this.#file.datasync()
    await this.#file.close()
  }

  /** Closes the file, unfinished as it is. */
  async abandon(): Promise<void> {
    await this.#last.catch(() => undefined)
    await this.#file.close().catch(() => undefined)
  }

  async #write(name: string, { data, ...facts }: CompressedContent): Promise<void> {
    const compressedSize = data.reduce((sum, { length }) => sum + length, 0)
    const member: ZipMember = { name, ...facts, compressedSize, offset: this.#offset }
    this.#directory.add(member)
    this.#push([localHeader(member), ...data])
    if (this.#pendingBytes < (this.#isLive ? MAX_LIVE_BYTES : WRITE_BYTES)) return
    await (this.#isLive ? this.#publish() : this.#flush())
  }

  async #publish(): Promise<void> {
    const start = this.#offset
    this.#push(this.#directory.end(start))
    this.#publishedDirectoryBytes = this.#offset - start
    await this.#flush()
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

async function compressed(content: string | Buffer): Promise<CompressedContent> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  if (zstandard && bytes.length >= FAR_BYTES) {
    const data = [await zstandard.pack(bytes)]
    return { data, crc: crc32(bytes), size: bytes.length, method: ZSTANDARD }
  }
  const data =
    bytes.length < SMALL_BYTES
      ? deflateRawSync(bytes, smallOptions(bytes.length))
      : await deflate(bytes, { level: LARGE_LEVEL, chunkSize: OUTPUT_BYTES })
  return { data: [data], crc: crc32(bytes), size: bytes.length }
}

/** A window no larger than the content, and buffers to match: what is set aside for the usual ones costs more than the work on a kilobyte. */
function smallOptions(size: number): ZlibOptions {
  const windowBits = Math.min(15, Math.max(9, Math.ceil(Math.log2(size + 1))))
  return { windowBits, memLevel: Math.max(5, windowBits - 7), chunkSize: Math.max(256, size) }
}
