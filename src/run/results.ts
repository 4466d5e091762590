import type { FooterRecord, SampleRecord, Totals } from '../log/records/records.ts'
import { DEFAULT_METRICS, type Metric } from '../score/metrics.ts'
import { MEAN, type Reducer, reducedValues } from '../score/reduce.ts'
import { scoreToNumber } from '../score/score-number.ts'
import type { NamedScorer } from '../score/scorer-names.ts'
import { isInfrastructure } from './error-policy.ts'

export interface ResultsOptions {
  readonly scorers: readonly NamedScorer[]
  /** Left out: the mean, without a word of it. */
  readonly reducers?: readonly Reducer[]
  /** Whether samples that ended with an error count with what scores they have. */
  readonly scoreOnError?: boolean
}

/** What is kept of one sample: a number per scorer and epoch (null: unscored), and the metadata that metrics ask for. */
interface Kept {
  /** By place of the scorer, then by epoch. */
  readonly scores: (number | null)[][]
  readonly keys: Readonly<Record<string, unknown>>
}

const NO_KEYS: Kept['keys'] = {}

/** Counts outcomes and keeps the scores, and no more, of what has ended. */
export class Results {
  readonly #options: ResultsOptions
  readonly #totals: Required<Totals> = {
    total: 0,
    success: 0,
    error: 0,
    limit: 0,
    cancelled: 0,
    abandoned: 0,
    reused: 0,
    infrastructure: 0,
  }
  /** By place in the plan. */
  readonly #kept = new Map<number, Kept>()
  readonly #fields: readonly string[]
  readonly #versions = new Set<string>()

  constructor(options: ResultsOptions) {
    this.#options = options
    const metrics = options.scorers.flatMap(({ scorer }) => scorer.metrics ?? [])
    this.#fields = [...new Set(metrics.flatMap(({ key }) => (key === undefined ? [] : [key])))]
  }

  get totals(): Readonly<Required<Totals>> {
    return this.#totals
  }

  /** Sample-epochs that were planned and have not ended. */
  get unfinished(): number {
    const { total, success, error, limit, cancelled, abandoned } = this.#totals
    return total - success - error - limit - cancelled - abandoned
  }

  get versions(): string[] {
    return [...this.#versions].sort()
  }

  planned(count: number): void {
    this.#totals.total += count
  }

  abandoned(): void {
    this.#totals.abandoned++
  }

  add(index: number, record: SampleRecord): void {
    this.#count(record, 1)
    this.#versions.add(record.belljar ?? 'unknown')
    const isScored =
      record.status !== 'cancelled' && (record.status !== 'error' || this.#options.scoreOnError)
    if (!isScored || this.#options.scorers.length === 0) return
    const kept = this.#kept.get(index) ?? this.#keep(index, record)
    for (const [index, { name }] of this.#options.scorers.entries()) {
      const score = record.scores[name]
      const values = kept.scores[index] ?? []
      values[record.epoch - 1] = score === undefined ? null : scoreToNumber(score.value)
      kept.scores[index] = values
    }
  }

  reused(index: number, record: SampleRecord): void {
    this.#totals.reused++
    this.add(index, record)
  }

  /** Takes an outcome back that another takes the place of. */
  retract(index: number, record: SampleRecord): void {
    this.#count(record, -1)
    for (const values of this.#kept.get(index)?.scores ?? []) delete values[record.epoch - 1]
  }

  /** Metrics of every scorer and reducer, over the samples in plan order whatever the order in which they ended. */
  scores(): FooterRecord['scores'] {
    const kept = [...this.#kept].sort(([one], [other]) => one - other).map(([, sample]) => sample)
    const { scorers, reducers } = this.#options
    return scorers.flatMap((scorer, place) => {
      const values = kept.map(({ scores, keys }) => ({ epochs: scores[place] ?? [], keys }))
      return reducers
        ? reducers.map((reducer) => ({ ...summary(scorer, values, reducer), reducer: reducer.name }))
        : [summary(scorer, values)]
    })
  }

  #count({ status, error }: SampleRecord, by: 1 | -1): void {
    this.#totals[status] += by
    if (status === 'error' && error && isInfrastructure(error)) this.#totals.infrastructure += by
  }

  #keep(index: number, { metadata }: SampleRecord): Kept {
    const keys =
      this.#fields.length === 0
        ? NO_KEYS
        : Object.fromEntries(this.#fields.map((field) => [field, metadata[field]]))
    const kept: Kept = { scores: [], keys }
    this.#kept.set(index, kept)
    return kept
  }
}

function summary(
  { name, scorer }: NamedScorer,
  samples: readonly { readonly epochs: readonly (number | null)[]; readonly keys: Kept['keys'] }[],
  reducer = MEAN,
): FooterRecord['scores'][number] {
  const reduced = samples.flatMap(({ epochs, keys }) => {
    const known = epochs.filter((value) => value !== undefined)
    return known.length === 0 ? [] : [{ values: reducedValues(known, reducer), keys }]
  })
  const scored = reduced.filter(({ values }) => values.length > 0)
  const metrics = (scorer.metrics ?? DEFAULT_METRICS).flatMap((metric) => figures(metric, scored))
  return { scorer: name, scored: scored.length, unscored: reduced.length - scored.length, metrics }
}

function figures(
  metric: Metric,
  samples: readonly { readonly values: readonly number[]; readonly keys: Kept['keys'] }[],
): { name: string; value: number | null }[] {
  const { name, key } = metric
  const values = samples.flatMap((sample) => sample.values)
  const keys = key === undefined ? [] : samples.flatMap((sample) => sample.values.map(() => sample.keys[key]))
  const figures = { [name]: metric.compute(values, keys) }
  for (const [group, value] of Object.entries(metric.groups?.(values, keys) ?? {}))
    figures[`${name}[${group}]`] = value
  return Object.entries(figures).map(([part, value]) => ({
    name: part,
    value: Number.isFinite(value) ? value : null,
  }))
}
