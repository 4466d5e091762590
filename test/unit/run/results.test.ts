import { describe, expect, it } from 'vitest'
import type { SampleRecord } from '../../../src/log/records/records.ts'
import { Results } from '../../../src/run/results.ts'
import type { Metric } from '../../../src/score/metrics.ts'
import type { ScoreValue } from '../../../src/score/scorer.ts'
import { sampleRecord } from '../../support/log-records.ts'

/** A metric that keeps what it was given. */
function kept(): Metric & { seen: number[][] } {
  const seen: number[][] = []
  return { name: 'kept', seen, compute: (values) => seen.push([...values]) }
}

const named = (name: string, ...metrics: Metric[]) => ({
  name,
  scorer: { name, metrics, score: async () => null },
})

function scored(value: ScoreValue | undefined, more: Partial<SampleRecord> = {}): SampleRecord {
  return sampleRecord({ scores: value === undefined ? {} : { judge: { value } }, ...more })
}

describe('results', () => {
  it('are computed in the order of the plan, whatever the order of ending', () => {
    const metric = kept()
    const results = new Results({ scorers: [named('judge', metric)] })
    results.planned(3)
    results.add(2, scored(0.3))
    results.add(0, scored(0.1))
    results.add(1, scored(0.2))
    results.scores()
    expect(metric.seen).toEqual([[0.1, 0.2, 0.3]])
  })

  it('reduce epochs by their mean, over those that were scored', () => {
    const metric = kept()
    const results = new Results({ scorers: [named('judge', metric)] })
    results.planned(4)
    for (const [index, value] of [1, undefined, 0, 'C'].entries())
      results.add(0, scored(value, { epoch: index + 1 }))
    results.scores()
    expect(metric.seen).toEqual([[expect.closeTo(2 / 3)]])
  })

  it('count what is unscored apart, and leave out what failed or was cancelled', () => {
    const results = new Results({ scorers: [named('judge', kept())] })
    results.planned(6)
    results.add(0, scored(1))
    results.add(1, scored(undefined))
    results.add(2, scored('no number'))
    results.add(3, scored(1, { status: 'error' }))
    results.add(4, scored(1, { status: 'cancelled' }))
    results.add(5, scored(0, { status: 'limit' }))
    expect(results.scores()[0]).toMatchObject({ scorer: 'judge', scored: 2, unscored: 2 })
    expect(results.totals).toMatchObject({ total: 6, success: 3, error: 1, cancelled: 1, limit: 1 })
    expect(results.unfinished).toBe(0)
  })

  it('keep scorers apart, and give null for what has no number', () => {
    const nothing: Metric = { name: 'nothing', compute: () => Number.NaN }
    const results = new Results({ scorers: [named('judge', nothing), named('absent', nothing)] })
    results.planned(1)
    results.add(0, scored(1))
    expect(results.scores()).toMatchObject([
      { scorer: 'judge', scored: 1, unscored: 0, metrics: [{ name: 'nothing', value: null }] },
      { scorer: 'absent', scored: 0, unscored: 1 },
    ])
  })

  it('know how much has not ended', () => {
    const results = new Results({ scorers: [] })
    results.planned(3)
    results.add(0, sampleRecord())
    expect(results.unfinished).toBe(2)
  })
})
