import { DuplicateSampleError } from '../errors.ts'

export type SampleId = string | number

/** Gives ids to samples that have none and refuses those in use; ids are compared as text. */
export class SampleIds {
  readonly #origins = new Map<string, string>()
  #last = 0

  /** The seed: explicit ids first, so that numbering goes around them. Returns ids in the seed's order. @throws DuplicateSampleError */
  takeSeed(samples: readonly { readonly id?: SampleId }[], origin: string): SampleId[] {
    for (const [index, { id }] of samples.entries()) {
      if (id !== undefined) this.#take(id, `${origin} (sample ${index + 1})`)
    }
    const ids = samples.map(({ id }, index) => id ?? this.#next(`${origin} (sample ${index + 1})`))
    this.#last = Math.max(this.#last, samples.length)
    return ids
  }

  /** Samples added together: all are taken or, when one is a duplicate, none. @throws DuplicateSampleError */
  takeAdded(samples: readonly { readonly id?: SampleId }[], origin: string): SampleId[] {
    const own = new Map<string, string>()
    for (const { id } of samples) {
      if (id === undefined) continue
      const first = this.#origins.get(String(id)) ?? own.get(String(id))
      if (first !== undefined) throw new DuplicateSampleError({ id: String(id), first, second: origin })
      own.set(String(id), origin)
    }
    for (const [id, from] of own) this.#origins.set(id, from)
    return samples.map(({ id }) => id ?? this.#next(origin))
  }

  #take(id: SampleId, origin: string): void {
    const first = this.#origins.get(String(id))
    if (first !== undefined) throw new DuplicateSampleError({ id: String(id), first, second: origin })
    this.#origins.set(String(id), origin)
  }

  #next(origin: string): number {
    do this.#last++
    while (this.#origins.has(String(this.#last)))
    this.#origins.set(String(this.#last), origin)
    return this.#last
  }
}
