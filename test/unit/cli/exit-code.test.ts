import { describe, expect, it } from 'vitest'
import { exitCode, type StopSignal } from '../../../src/cli/exit-code.ts'
import type { RunResult } from '../../../src/run/evaluate.ts'
import { leftObject } from '../../support/sandbox-parts.ts'

type Status = 'success' | 'error' | 'cancelled'

/** As much of a result as an exit code is made of. */
function result(statuses: readonly Status[], more: { errors?: number; left?: boolean } = {}): RunResult {
  const evals = statuses.map((status) => ({ status, footer: { totals: { error: more.errors ?? 0 } } }))
  return { run: 'run', evals, left: more.left ? [leftObject('stuck')] : [] } as unknown as RunResult
}

describe('the exit code of a run', () => {
  it.each<[string, RunResult, StopSignal | undefined, number]>([
    ['all is well', result(['success', 'success']), undefined, 0],
    ['samples ended with errors', result(['success'], { errors: 2 }), undefined, 1],
    ['an eval failed', result(['success', 'error']), undefined, 3],
    ['an eval was cancelled by code', result(['cancelled']), undefined, 3],
    ['an eval failed, with errors in samples', result(['error'], { errors: 1 }), undefined, 3],
    ['something is left', result(['success'], { left: true }), undefined, 4],
    ['something is left of a failed eval', result(['error'], { errors: 1, left: true }), undefined, 4],
    ['it was hung up', result(['cancelled']), 'SIGHUP', 129],
    ['it was interrupted', result(['cancelled']), 'SIGINT', 130],
    ['it was terminated', result(['cancelled']), 'SIGTERM', 143],
    ['it was interrupted and something is left', result(['error'], { errors: 1, left: true }), 'SIGINT', 130],
    ['it was interrupted when all was done', result(['success']), 'SIGINT', 130],
  ])('when %s', (_what, run, signal, code) => {
    expect(exitCode(run, signal)).toBe(code)
  })
})
