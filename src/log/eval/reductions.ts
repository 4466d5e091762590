import { type Reducer, type ReducerName, reducedValues, reducerOf } from '../../score/reduce.ts'
import { scoreToNumber } from '../../score/score-number.ts'
import { arithmeticMean } from '../../score/sum.ts'
import type { FooterRecord, HeaderRecord, SampleRecord } from '../records/records.ts'
import { toEvalId } from './ids.ts'
import type { EvalUsage } from './schema/values.ts'
import { toUsage } from './usage.ts'

/** By sample, then by epoch. */
type Values = Map<SampleRecord['id'], Map<number, number | null>>

const MEAN: Pick<Reducer, 'reduce'> = { reduce: arithmeticMean }

export interface ReducedScores {
  readonly scorer: string
  readonly metrics: readonly string[]
  readonly values: readonly [id: SampleRecord['id'], values: readonly number[]][]
}

/** Adds up what a log says of all samples together: scores by sample over its epochs, and tokens by model and role. */
export class EvalReductions {
  readonly usage: Record<string, EvalUsage> = {}
  readonly roleUsage: Record<string, EvalUsage> = {}
  readonly statuses = { success: 0, error: 0, limit: 0, cancelled: 0 }
  samples = 0
  readonly #scorers: HeaderRecord['scorers']
  readonly #scores: ReadonlyMap<string, Values>
  readonly #scoreOnError: boolean

  constructor({ scorers, config }: Pick<HeaderRecord, 'scorers' | 'config'>) {
    this.#scorers = scorers
    this.#scoreOnError = config.scoreOnError ?? false
    this.#scores = new Map(scorers.map(({ name }) => [name, new Map()]))
  }

  add(record: SampleRecord): void {
    this.samples++
    this.statuses[record.status]++
    addUsage(this.usage, record.usage)
    addUsage(this.roleUsage, record.roleUsage)
    if (record.status === 'cancelled' || (record.status === 'error' && !this.#scoreOnError)) return
    for (const [name, values] of this.#scores) {
      const score = record.scores[name]
      const ofSample = values.get(record.id) ?? new Map<number, number | null>()
      ofSample.set(record.epoch, score === undefined ? null : scoreToNumber(score.value))
      values.set(record.id, ofSample)
    }
  }

  /** By scorer, what each sample counts from its epochs, in the order in which the samples ended; nothing for those never scored. */
  reduced(reducer: Pick<Reducer, 'reduce'> = MEAN): ReducedScores[] {
    return this.#scorers.map(({ name, metrics }) => ({
      scorer: name,
      metrics,
      values: [...(this.#scores.get(name) ?? [])].map(([id, ofSample]) => [
        id,
        reducedValues([...ofSample.values()], reducer),
      ]),
    }))
  }

  /** Reducers of the footer that a name tells; those that a task made itself are known by their metrics alone. */
  member(footer: Pick<FooterRecord, 'scores'>) {
    const names = new Set(footer.scores.map(({ reducer }) => reducer ?? 'mean'))
    return [...names].flatMap((name) => {
      const reducer = reducerOf(name as ReducerName)
      return reducer ? this.reduced(reducer).map((reduced) => reductionOf(name, reduced)) : []
    })
  }
}

function addUsage(totals: Record<string, EvalUsage>, given: SampleRecord['usage'] = {}): void {
  for (const [name, counts] of Object.entries(given)) {
    const usage = toUsage(counts)
    const total = Object.hasOwn(totals, name) ? totals[name] : undefined
    if (!total) totals[name] = usage
    else
      for (const [kind, count] of Object.entries(usage))
        if (typeof count === 'number') total[kind] = Number(total[kind] ?? 0) + count
  }
}

function reductionOf(reducer: string, { scorer, values }: ReducedScores) {
  const samples = values.flatMap(([id, reduced]) => {
    const [first] = reduced
    if (first === undefined) return []
    return [{ value: reduced.length === 1 ? first : [...reduced], history: [], sample_id: toEvalId(id) }]
  })
  return { scorer, reducer, samples }
}
