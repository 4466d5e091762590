import { DEFAULT_METRICS, mean } from '../../score/metrics.ts'
import type { EvalReductions } from '../eval/reductions.ts'
import type { FooterRecord, SampleRecord, SampleStartRecord } from '../records/records.ts'

/** The record of a sample that was under way when its run was killed. */
export function cancelledRecord(start: SampleStartRecord, lastMs: number): SampleRecord {
  const { uuid, id, epoch, input, target, startedAt } = start
  const totalMs = Math.max(0, lastMs - Date.parse(startedAt))
  return {
    type: 'sample',
    uuid,
    id,
    epoch,
    attempt: 1,
    status: 'cancelled',
    input,
    target,
    metadata: {},
    messages: [],
    output: '',
    scores: {},
    startedAt,
    completedAt: new Date(Date.parse(startedAt) + totalMs).toISOString(),
    totalMs,
    workingMs: totalMs,
    phases: [],
    usage: {},
  }
}

/** The end of a log whose run did not write one. Metrics are those that belljar has by name; others have no value. */
export function recoveredFooter(reductions: EvalReductions, lastMs: number): FooterRecord {
  return {
    type: 'footer',
    status: 'error',
    completedAt: new Date(lastMs).toISOString(),
    totals: { total: reductions.samples, ...reductions.statuses },
    scores: reductions.reduced().map(({ scorer, metrics, values }) => {
      const scored = values.flatMap(([, reduced]) => reduced)
      return {
        scorer,
        scored: scored.length,
        unscored: values.length - scored.length,
        metrics: metrics.map((name) => ({ name, value: metricValue(name, scored) })),
      }
    }),
    error: {
      kind: 'log',
      code: 'recovered',
      message: 'recovered: the run ended without finishing its log',
    },
    sourceEnded: false,
  }
}

const METRICS = new Map([...DEFAULT_METRICS, mean()].map((metric) => [metric.name, metric]))

function metricValue(name: string, values: readonly number[]): number | null {
  const value = METRICS.get(name)?.compute(values)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
