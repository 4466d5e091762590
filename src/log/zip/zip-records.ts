/** What the directory of a ZIP file says of one member. */
export interface ZipMember {
  readonly name: string
  readonly crc: number
  readonly size: number
  /** How it is packed (default DEFLATED). */
  readonly method?: number
  readonly compressedSize: number
  /** Of its local header. */
  readonly offset: number
}

const MAX_32 = 0xffff_ffff
const MAX_16 = 0xffff
export const DEFLATED = 8
export const ZSTANDARD = 93
/** Names are UTF-8. */
const FLAGS = 0x0800
/** 1980-01-01, the earliest there is: the same records make the same bytes. */
const DATE = 0x21
const VERSION = 20
const VERSION_64 = 45

/** Local file header. Format: PKWARE APPNOTE.TXT 6.3.10, section 4.3.7. */
export function localHeader({ name, ...facts }: ZipMember): Buffer {
  const nameBytes = Buffer.from(name)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(VERSION, 4)
  writeCommon(header, { ...facts, nameLength: nameBytes.length }, 6)
  return Buffer.concat([header, nameBytes])
}

const ENTRIES_JOINED = 1024

/** Central directory and its end record, in ZIP64 form where a number needs it. Format: APPNOTE.TXT 6.3.10, sections 4.3.12 to 4.3.16. */
export class ZipDirectory {
  readonly #joined: Buffer[] = []
  #entries: Buffer[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  add(member: ZipMember): void {
    this.#count++
    this.#entries.push(directoryEntry(member))
    if (this.#entries.length >= ENTRIES_JOINED) this.#join()
  }

  /** All of it, for a directory that begins at `offset`. */
  end(offset: number): Buffer[] {
    this.#join()
    const count = this.#count
    const size = this.#joined.reduce((sum, { length }) => sum + length, 0)
    const isLarge = count >= MAX_16 || offset >= MAX_32 || size >= MAX_32
    return [
      ...this.#joined,
      ...(isLarge ? [zip64End(count, size, offset)] : []),
      endRecord(count, size, offset),
    ]
  }

  #join(): void {
    this.#joined.push(Buffer.concat(this.#entries))
    this.#entries = []
  }
}

function endRecord(members: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  const count = Math.min(members, MAX_16)
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(Math.min(size, MAX_32), 12)
  end.writeUInt32LE(Math.min(offset, MAX_32), 16)
  return end
}

function directoryEntry({ name, offset, ...facts }: ZipMember): Buffer {
  const nameBytes = Buffer.from(name)
  const isFar = offset >= MAX_32
  const extra = isFar ? zip64Offset(offset) : Buffer.alloc(0)
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(isFar ? VERSION_64 : VERSION, 4)
  entry.writeUInt16LE(isFar ? VERSION_64 : VERSION, 6)
  writeCommon(entry, { ...facts, nameLength: nameBytes.length }, 8)
  entry.writeUInt16LE(extra.length, 30)
  entry.writeUInt32LE(Math.min(offset, MAX_32), 42)
  return Buffer.concat([entry, nameBytes, extra])
}

/** The fields that local header and directory entry share, in the order they share. */
function writeCommon(
  target: Buffer,
  facts: Omit<ZipMember, 'name' | 'offset'> & { nameLength: number },
  at: number,
): void {
  target.writeUInt16LE(FLAGS, at)
  target.writeUInt16LE(facts.method ?? DEFLATED, at + 2)
  target.writeUInt16LE(DATE, at + 6)
  target.writeUInt32LE(facts.crc, at + 8)
  target.writeUInt32LE(facts.compressedSize, at + 12)
  target.writeUInt32LE(facts.size, at + 16)
  target.writeUInt16LE(facts.nameLength, at + 20)
}

function zip64Offset(offset: number): Buffer {
  const extra = Buffer.alloc(12)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(8, 2)
  extra.writeBigUInt64LE(BigInt(offset), 4)
  return extra
}

function zip64End(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(56 + 20)
  end.writeUInt32LE(0x06064b50, 0)
  end.writeBigUInt64LE(44n, 4)
  end.writeUInt16LE(VERSION_64, 12)
  end.writeUInt16LE(VERSION_64, 14)
  end.writeBigUInt64LE(BigInt(count), 24)
  end.writeBigUInt64LE(BigInt(count), 32)
  end.writeBigUInt64LE(BigInt(size), 40)
  end.writeBigUInt64LE(BigInt(offset), 48)
  end.writeUInt32LE(0x07064b50, 56)
  end.writeBigUInt64LE(BigInt(offset + size), 64)
  end.writeUInt32LE(1, 72)
  return end
}
