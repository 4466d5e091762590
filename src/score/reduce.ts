import { arithmeticMean } from './sum.ts'

/** One figure for a sample from those of its epochs. */
export interface Reducer {
  readonly name: string
  /** The fewest epochs that it makes sense of. */
  readonly epochs?: number
  /** `values` holds a number per scored epoch, in epoch order, and at least one. A list counts each of its numbers on its own. */
  reduce(values: readonly number[]): number | readonly number[]
}

/** `pass_at_k` is an unbiased estimate of passing at least once in k tries, `pass_k` of passing in all of k. */
export type ReducerName =
  | 'mean'
  | 'median'
  | 'mode'
  | 'max'
  | 'collect'
  | `at_least_${number}`
  | `pass_at_${number}`
  | `pass_${number}`

/** A score from here on is a pass. */
const PASS = 1

export const MEAN: Reducer = { name: 'mean', reduce: arithmeticMean }

const FIXED: readonly Reducer[] = [
  MEAN,
  { name: 'median', reduce: median },
  { name: 'mode', reduce: mode },
  { name: 'max', reduce: (values) => values.reduce((one, other) => Math.max(one, other)) },
  { name: 'collect', reduce: (values) => values },
]

/** undefined for a name that there is not. */
export function reducerOf(given: ReducerName | Reducer): Reducer | undefined {
  if (typeof given !== 'string') return given
  const fixed = FIXED.find(({ name }) => name === given)
  if (fixed) return fixed
  const [, kind, count] = /^(at_least|pass_at|pass)_([1-9]\d*)$/.exec(given) ?? []
  if (kind === undefined) return undefined
  const epochs = Number(count)
  return { name: given, epochs, reduce: (values) => passes(kind, values, epochs) }
}

export function isReducer(value: unknown): value is ReducerName | Reducer {
  if (typeof value === 'string') return reducerOf(value as ReducerName) !== undefined
  return (
    typeof value === 'object' && value !== null && 'reduce' in value && typeof value.reduce === 'function'
  )
}

/** What a sample counts, from the scores of its epochs (null: unscored). No number when no epoch was scored. */
export function reducedValues(
  values: readonly (number | null | undefined)[],
  reducer: Pick<Reducer, 'reduce'>,
): readonly number[] {
  const scored = values.filter((value) => typeof value === 'number' && !Number.isNaN(value)) as number[]
  if (scored.length === 0) return []
  const reduced = reducer.reduce(scored)
  return (typeof reduced === 'number' ? [reduced] : reduced).filter((value) => !Number.isNaN(value))
}

/** One number for a sample from those of its epochs: the mean over the epochs that were scored; null when none was. */
export function reduceEpochs(values: readonly (number | null)[]): number | null {
  const [mean = null] = reducedValues(values, MEAN)
  return mean
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1)
  return arithmeticMean(middle)
}

/** The most frequent; of several, the one of the earliest epoch. */
function mode(values: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const most = Math.max(...counts.values())
  return [...counts].find(([, count]) => count === most)?.[0] ?? Number.NaN
}

/** Fewer scored epochs than k say nothing about k tries. */
function passes(kind: string, values: readonly number[], k: number): number {
  const count = values.length
  const passed = values.filter((value) => value >= PASS).length
  if (kind === 'at_least') return passed >= k ? 1 : 0
  if (count < k) return Number.NaN
  return kind === 'pass_at' ? 1 - drawnAll(count - passed, count, k) : drawnAll(passed, count, k)
}

/** Chance that k drawn of `count` without putting back are all of `some`: C(some, k) / C(count, k), without large numbers. */
function drawnAll(some: number, count: number, k: number): number {
  let chance = 1
  for (let drawn = 0; drawn < k; drawn++) chance *= Math.max(0, some - drawn) / (count - drawn)
  return chance
}
