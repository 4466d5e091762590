/** A priority queue: the least comes out first. A binary heap. */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #compare: (one: T, other: T) => number

  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare
  }

  push(item: T): void {
    const items = this.#items
    let place = items.push(item) - 1
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (this.#compare(item, items[parent] as T) >= 0) break
      items[place] = items[parent] as T
      place = parent
    }
    items[place] = item
  }

  pop(): T | undefined {
    const items = this.#items
    const least = items[0]
    const last = items.pop()
    if (items.length > 0) this.#sink(last as T)
    return least
  }

  #sink(item: T): void {
    const items = this.#items
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      if (left >= items.length) break
      const right = left + 1
      const isRightLess = right < items.length && this.#compare(items[right] as T, items[left] as T) < 0
      const child = isRightLess ? right : left
      if (this.#compare(item, items[child] as T) <= 0) break
      items[place] = items[child] as T
      place = child
    }
    items[place] = item
  }
}
