import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { crc32, inflateRaw, inflateRawSync } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, type ZipFile as YauzlFile } from 'yauzl'
import { ConfigError, errorMessage } from '../../errors.ts'
import { BlockReader } from './block-reader.ts'
import { DEFLATED, ZSTANDARD } from './zip-records.ts'
import { unpackZstandard } from './zstandard.ts'

const inflate = promisify(inflateRaw)
const STORED = 0
/** Less is unpacked at once, as handing it to another thread costs more. */
const SMALL_BYTES = 32_768
/** More is checked without being held. */
const STREAMED_BYTES = 16_777_216
const DAMAGED = 'damaged: its size or checksum is wrong'
/** The longest text that the runtime can hold, about. */
const MAX_MEMBER_BYTES = 500_000_000

/** A ZIP file whose members are read one by one; of members with the same name the last counts. */
export class ZipFile implements AsyncDisposable {
  readonly path: string
  readonly #file: FileHandle
  readonly #reader: BlockReader
  readonly #zip: YauzlFile
  readonly #entries: ReadonlyMap<string, Entry>

  private constructor(
    path: string,
    file: FileHandle,
    parts: { reader: BlockReader; zip: YauzlFile; entries: Map<string, Entry> },
  ) {
    this.path = path
    this.#file = file
    this.#reader = parts.reader
    this.#zip = parts.zip
    this.#entries = parts.entries
  }

  /** Reads the directory of members, and nothing else. @throws ConfigError */
  static async open(path: string): Promise<ZipFile> {
    let file: FileHandle | undefined
    try {
      file = await open(path, 'r')
      const { size } = await file.stat()
      const reader = new BlockReader(file.fd)
      const zip = await fromRandomAccessReaderPromise(reader, size, {
        lazyEntries: true,
        autoClose: false,
        decodeStrings: false,
      })
      const entries = new Map<string, Entry>()
      for await (const entry of zip.eachEntry()) entries.set(nameOf(entry), withoutTexts(entry))
      return new ZipFile(path, file, { reader, zip, entries })
    } catch (error) {
      await file?.close()
      throw new ConfigError(`cannot read the log: ${errorMessage(error)}`, { where: path, cause: error })
    }
  }

  get names(): string[] {
    return [...this.#entries.keys()]
  }

  /** Of all members, those that another of the same name follows among them. */
  get memberCount(): number {
    return this.#zip.entryCount
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** @throws ConfigError when it is missing, damaged, too large or packed in an unknown way */
  async text(name: string): Promise<string> {
    return (await this.bytes(name)).toString('utf8')
  }

  /** @throws ConfigError */
  async bytes(name: string): Promise<Buffer> {
    const where = `${this.path}:${name}`
    const entry = this.#entries.get(name)
    if (!entry) throw new ConfigError('the log has no such member', { where })
    if (entry.uncompressedSize > MAX_MEMBER_BYTES)
      throw new ConfigError(`too large to be read at once (${entry.uncompressedSize} bytes)`, { where })
    try {
      const content = await unpacked(await this.#raw(entry), entry)
      if (content.length === entry.uncompressedSize && crc32(content) === entry.crc32) return content
    } catch (error) {
      throw new ConfigError(`cannot be read: ${errorMessage(error)}`, { where, cause: error })
    }
    throw new ConfigError(DAMAGED, { where })
  }

  /** Checks size and checksum of a member of any size. @throws ConfigError */
  async verify(name: string): Promise<void> {
    const entry = this.#entries.get(name)
    if (!entry || entry.uncompressedSize < STREAMED_BYTES) return void (await this.bytes(name))
    const stream = await this.#zip.openReadStreamPromise(entry)
    let crc = 0
    let size = 0
    for await (const chunk of stream) {
      crc = crc32(chunk, crc)
      size += chunk.length
    }
    if (crc !== entry.crc32 || size !== entry.uncompressedSize)
      throw new ConfigError(DAMAGED, { where: `${this.path}:${name}` })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#zip.close()
    await this.#file.close()
  }

  async #raw(entry: Entry): Promise<Buffer> {
    if (entry.isEncrypted()) throw new Error('encrypted')
    const { fileDataStart } = await this.#zip.readLocalFileHeaderPromise(entry, { minimal: true })
    return this.#reader.bytes(fileDataStart, entry.compressedSize)
  }
}

function nameOf(entry: Entry): string {
  return (entry.fileName as unknown as Buffer).toString('utf8')
}

const NO_BYTES = Buffer.alloc(0)

/** A hundred thousand of them are held at once; each would keep a piece of the directory. */
function withoutTexts(entry: Entry): Entry {
  const none = { fileName: '', fileNameRaw: NO_BYTES, fileComment: '', fileCommentRaw: NO_BYTES }
  return Object.assign(entry, none, { extraFields: [], extraFieldRaw: NO_BYTES })
}

async function unpacked(raw: Buffer, { compressionMethod, uncompressedSize }: Entry): Promise<Buffer> {
  if (compressionMethod === STORED) return raw
  if (compressionMethod === DEFLATED) {
    const maxOutputLength = uncompressedSize + 1
    if (uncompressedSize >= SMALL_BYTES) return inflate(raw, { maxOutputLength })
    return inflateRawSync(raw, { maxOutputLength, chunkSize: Math.max(64, maxOutputLength) })
  }
  if (compressionMethod === ZSTANDARD) return unpackZstandard(raw, uncompressedSize)
  throw new Error(`packed by method ${compressionMethod}, which is not supported`)
}
