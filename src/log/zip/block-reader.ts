import { read } from 'node:fs'
import { Readable } from 'node:stream'
import { RandomAccessReader } from 'yauzl'

const BLOCK_BYTES = 1 << 20

/** Reads a file in blocks, so that a directory of ten thousand short entries takes a few reads. */
export class BlockReader extends RandomAccessReader {
  readonly #fd: number
  #block: Buffer = Buffer.alloc(0)
  #start = 0

  /** The descriptor stays the caller's to close. */
  constructor(fd: number) {
    super()
    this.#fd = fd
  }

  // biome-ignore lint/complexity/useMaxParams: the interface is yauzl's
  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    const from = position - this.#start
    if (from >= 0 && from + length <= this.#block.length) {
      this.#block.copy(buffer, offset, from, from + length)
      process.nextTick(callback, null)
      return
    }
    const block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, length))
    read(this.#fd, block, 0, block.length, position, (error, bytesRead) => {
      if (error) return callback(error)
      if (bytesRead < length) return callback(new Error('the file ends too early'))
      this.#block = block.subarray(0, bytesRead)
      this.#start = position
      this.#block.copy(buffer, offset, 0, length)
      callback(null)
    })
  }

  /** @throws Error when the file is too short */
  bytes(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length)
    return new Promise((resolve, reject) => {
      this.read(buffer, 0, length, position, (error) => (error ? reject(error) : resolve(buffer)))
    })
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#pieces(start, end))
  }

  async *#pieces(start: number, end: number): AsyncGenerator<Buffer> {
    for (let position = start; position < end; position += BLOCK_BYTES)
      yield await this.bytes(position, Math.min(BLOCK_BYTES, end - position))
  }
}
