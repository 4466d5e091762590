export type StreamName = 'stdout' | 'stderr'

const HEADER_BYTES = 8
const STREAM_BY_TYPE: Readonly<Record<number, StreamName>> = { 0: 'stdout', 1: 'stdout', 2: 'stderr' }

/** Takes the Engine's multiplexed stream apart: frames of `type 0 0 0 length(4)` and payload, however the chunks are cut. */
export class Demuxer {
  readonly #write: (stream: StreamName, payload: Buffer) => void
  #header = Buffer.alloc(HEADER_BYTES)
  #headerLength = 0
  #stream: StreamName = 'stdout'
  #remaining = 0

  constructor(write: (stream: StreamName, payload: Buffer) => void) {
    this.#write = write
  }

  /** @throws Error when the bytes are not such a stream */
  push(chunk: Buffer): void {
    let offset = 0
    while (offset < chunk.length) {
      if (this.#remaining > 0) {
        const end = Math.min(chunk.length, offset + this.#remaining)
        this.#write(this.#stream, chunk.subarray(offset, end))
        this.#remaining -= end - offset
        offset = end
      } else {
        offset += this.#readHeader(chunk, offset)
      }
    }
  }

  /** Whether the stream ended inside a frame. */
  get incomplete(): boolean {
    return this.#remaining > 0 || this.#headerLength > 0
  }

  #readHeader(chunk: Buffer, offset: number): number {
    const taken = chunk.copy(
      this.#header,
      this.#headerLength,
      offset,
      offset + HEADER_BYTES - this.#headerLength,
    )
    this.#headerLength += taken
    if (this.#headerLength < HEADER_BYTES) return taken
    const stream = STREAM_BY_TYPE[this.#header[0] ?? -1]
    if (!stream) throw new Error(`the engine sent a frame of unknown type ${this.#header[0]}`)
    this.#stream = stream
    this.#remaining = this.#header.readUInt32BE(4)
    this.#headerLength = 0
    return taken
  }
}
