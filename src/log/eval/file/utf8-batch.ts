const FIRST_BYTES = 8192
/** Of UTF-8 for one unit of a string, at most. */
const MOST_BYTES = 3

/** Text as bytes, put together piece by piece without a string of all of it. */
export class Utf8Batch {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 0

  /** In bytes. */
  get length(): number {
    return this.#length
  }

  add(text: string): void {
    const room = this.#bytes.length - this.#length
    if (room < text.length * MOST_BYTES) this.#makeRoom(Buffer.byteLength(text))
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** What there is, which then is the caller's. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
    return bytes
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}
