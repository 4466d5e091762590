import type { FooterRecord, SampleRecord, Totals } from '../log/records.ts'
import { DEFAULT_METRICS } from '../score/metrics.ts'
import { reduceEpochs } from '../score/reduce.ts'
import { scoreToNumber } from '../score/score-number.ts'
import type { NamedScorer } from './resolved-task.ts'

/** Counts outcomes and keeps the scores, and no more, of what has ended. */
export class Results {
  readonly #scorers: readonly NamedScorer[]
  readonly #totals: Totals = { total: 0, success: 0, error: 0, limit: 0, cancelled: 0 }
  /** By scorer, then by place in the plan: one number per epoch, null where unscored. */
  readonly #scores = new Map<string, Map<number, (number | null)[]>>()

  constructor(scorers: readonly NamedScorer[]) {
    this.#scorers = scorers
    for (const { name } of scorers) this.#scores.set(name, new Map())
  }

  get totals(): Readonly<Totals> {
    return this.#totals
  }

  /** Sample-epochs that were planned and have not ended. */
  get unfinished(): number {
    const { total, success, error, limit, cancelled } = this.#totals
    return total - success - error - limit - cancelled
  }

  planned(count: number): void {
    this.#totals.total += count
  }

  add(index: number, record: SampleRecord): void {
    this.#totals[record.status]++
    if (record.status === 'error' || record.status === 'cancelled') return
    for (const [name, bySample] of this.#scores) {
      const score = record.scores[name]
      const values = bySample.get(index) ?? []
      values.push(score === undefined ? null : scoreToNumber(score.value))
      bySample.set(index, values)
    }
  }

  /** Metrics of every scorer, over the samples in plan order whatever order they finished in. */
  scores(): FooterRecord['scores'] {
    return this.#scorers.map(({ name, scorer }) => {
      const bySample = [...(this.#scores.get(name) ?? [])].sort(([one], [other]) => one - other)
      const reduced = bySample.map(([, values]) => reduceEpochs(values))
      const scored = reduced.filter((value) => value !== null)
      const metrics = (scorer.metrics ?? DEFAULT_METRICS).map((metric) => {
        const value = metric.compute(scored)
        return { name: metric.name, value: Number.isFinite(value) ? value : null }
      })
      return { scorer: name, scored: scored.length, unscored: reduced.length - scored.length, metrics }
    })
  }
}
