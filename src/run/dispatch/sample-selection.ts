import { ConfigError } from '../../errors.ts'
import type { SampleId } from '../../sample/sample-id.ts'
import { globPattern } from '../../util/glob.ts'

export interface SelectionOptions {
  /** So many samples, or those at positions from the first number up to the second, counted from 0. */
  readonly limit?: number | readonly [number, number]
  /** Patterns (`*`, `?`, `[a-z]`) of ids, or of `task:id`. */
  readonly sampleIds?: readonly string[]
}

export type Refusal = 'filtered' | 'over-limit'

/** Which samples of a task are run: all, the first so many, a range, or those whose ids match a pattern. */
export class SampleSelection {
  readonly #task: string
  readonly #patterns: readonly RegExp[] | undefined
  readonly #range: readonly [number, number]
  #left = Number.POSITIVE_INFINITY

  constructor(task: string, options: SelectionOptions) {
    const { limit = Number.POSITIVE_INFINITY, sampleIds } = options
    this.#task = task
    this.#patterns = sampleIds?.map(globPattern)
    this.#range = typeof limit === 'number' ? [0, limit] : limit
  }

  /** Whether no further sample can be taken, whatever it is. */
  get isSpent(): boolean {
    return this.#left <= 0
  }

  /** The part of the seed that is run; what it takes counts. */
  ofSeed<T extends { readonly id: SampleId }>(seed: readonly T[]): T[] {
    const taken = seed.slice(...this.#range).filter(({ id }) => this.#matches(id))
    this.#left = this.#range[1] - taken.length
    return taken
  }

  /** Takes an added sample, or says why not. */
  refusal(id: SampleId): Refusal | undefined {
    if (!this.#matches(id)) return 'filtered'
    if (this.isSpent) return 'over-limit'
    this.#left--
    return undefined
  }

  #matches(id: SampleId): boolean {
    const names = [String(id), `${this.#task}:${id}`]
    return this.#patterns?.some((pattern) => names.some((name) => pattern.test(name))) ?? true
  }
}

/** @throws ConfigError for a limit that is none, and for both at once */
export function checkSelection({ limit, sampleIds }: SelectionOptions): void {
  if (limit === undefined) return
  const [from, to] = typeof limit === 'number' ? [0, limit] : limit
  const isRange = Number.isInteger(from) && Number.isInteger(to) && from >= 0 && to >= from
  if (!isRange)
    throw new ConfigError(`expected a whole number or a range 'from,to', got ${String(limit)}`, {
      where: 'limit',
    })
  if (sampleIds)
    throw new ConfigError('limit and sample ids cannot be combined: name the samples, or how many')
}
