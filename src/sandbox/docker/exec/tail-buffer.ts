const FIRST_CAPACITY = 4096

/** Keeps the last `cap` bytes of what is written, and counts all. Memory grows with what is kept, never over the cap. */
export class TailBuffer {
  readonly #cap: number
  #ring: Buffer
  #start = 0
  #length = 0
  #total = 0

  constructor(cap: number) {
    this.#cap = cap
    this.#ring = Buffer.alloc(Math.min(cap, FIRST_CAPACITY))
  }

  get totalBytes(): number {
    return this.#total
  }

  get truncated(): boolean {
    return this.#total > this.#cap
  }

  write(data: Buffer): void {
    this.#total += data.length
    const kept = data.length > this.#cap ? data.subarray(data.length - this.#cap) : data
    this.#reserve(Math.min(this.#cap, this.#length + kept.length))
    this.#dropFirst(this.#length + kept.length - this.#ring.length)
    const capacity = this.#ring.length
    if (capacity === 0) return
    const end = (this.#start + this.#length) % capacity
    const first = kept.copy(this.#ring, end, 0, Math.min(kept.length, capacity - end))
    kept.copy(this.#ring, 0, first)
    this.#length += kept.length
  }

  bytes(): Buffer {
    const head = this.#ring.subarray(this.#start, Math.min(this.#ring.length, this.#start + this.#length))
    return Buffer.concat([head, this.#ring.subarray(0, this.#length - head.length)])
  }

  /** UTF-8 with replacement; a character that the cap cut in two at the front is left out. */
  text(): string {
    const bytes = this.bytes()
    let start = 0
    if (this.truncated) while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start))
  }

  #reserve(wanted: number): void {
    if (wanted <= this.#ring.length) return
    const larger = Buffer.alloc(Math.min(this.#cap, Math.max(wanted, this.#ring.length * 2)))
    this.bytes().copy(larger)
    this.#ring = larger
    this.#start = 0
  }

  #dropFirst(count: number): void {
    if (count <= 0) return
    this.#start = (this.#start + count) % this.#ring.length
    this.#length -= count
  }
}
