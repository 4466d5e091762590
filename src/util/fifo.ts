const COMPACT_AT = 1024

/** First in, first out, in constant time. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(...items: readonly T[]): void {
    for (const item of items) this.#items.push(item)
  }

  shift(): T | undefined {
    const item = this.#items[this.#head]
    if (this.#head < this.#items.length) this.#items[this.#head++] = undefined
    if (this.#head >= COMPACT_AT && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }
}
