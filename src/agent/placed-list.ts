import { createHash } from 'node:crypto'

export interface Placed<T> {
  /** What was not in the list, now at its end. */
  readonly added: readonly T[]
  /** Place of the first of them. */
  readonly from: number
  /** Where all of them are in the list: ranges, ends excluded. */
  readonly refs: readonly (readonly [number, number])[]
}

/** What many growing lists hold, in one list and each thing in it once. Equal things are one; they may not change once they are in. */
export class PlacedList<T extends object> {
  readonly #places = new Map<string, number>()
  readonly #known = new WeakMap<T, number>()
  #length = 0

  place(items: readonly T[]): Placed<T> {
    const from = this.#length
    const added: T[] = []
    const refs: [number, number][] = []
    for (const item of items) {
      const place = this.#placeOf(item)
      if (place === from + added.length) added.push(item)
      const last = refs.at(-1)
      if (last && last[1] === place) last[1]++
      else refs.push([place, place + 1])
    }
    return { added, from, refs }
  }

  /** Puts one at the end, also when its equal is in the list: the last of equals is the one found. */
  append(item: T): void {
    this.#places.set(digest(item), this.#length)
    this.#known.set(item, this.#length++)
  }

  #placeOf(item: T): number {
    const known = this.#known.get(item)
    if (known !== undefined) return known
    const key = digest(item)
    const place = this.#places.get(key) ?? this.#length++
    this.#places.set(key, place)
    this.#known.set(item, place)
    return place
  }
}

function digest(item: object): string {
  return createHash('sha1').update(JSON.stringify(item)).digest('base64')
}
