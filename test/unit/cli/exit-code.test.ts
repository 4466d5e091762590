import { describe, expect, it } from 'vitest'
import { exitCode, type StopSignal, setExitCode } from '../../../src/cli/exit-code.ts'
import type { RunResult } from '../../../src/run/evaluate.ts'
import type { SetResult } from '../../../src/run/set/set-options.ts'
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

/** By state, status of the last attempt, and errors of samples in it. */
function set(tasks: readonly (readonly [string, Status | undefined, number])[], left = 0): SetResult {
  const results = tasks.map(([state, status, error]) => ({
    state,
    eval: status && { status, footer: { totals: { error } } },
  }))
  return {
    tasks: results,
    left: Array.from({ length: left }, () => leftObject('stuck')),
  } as unknown as SetResult
}

describe('the exit code of a set', () => {
  it.each<[string, SetResult, StopSignal | undefined, number]>([
    ['all is complete', set([['complete', 'success', 0]]), undefined, 0],
    ['there is nothing in this part', set([]), undefined, 0],
    [
      'samples still have errors',
      set([
        ['complete', 'success', 0],
        ['failed', 'success', 2],
      ]),
      undefined,
      1,
    ],
    [
      'an eval failed',
      set([
        ['failed', 'success', 2],
        ['failed', 'error', 1],
      ]),
      undefined,
      3,
    ],
    ['an operator drained one', set([['stopped', 'success', 0]]), undefined, 3],
    ['one could not be begun', set([['failed', undefined, 0]]), undefined, 3],
    ['something is left', set([['failed', 'error', 1]], 1), undefined, 4],
    ['it was interrupted', set([['again', 'error', 1]], 1), 'SIGINT', 130],
  ])('when %s', (_what, result, signal, code) => {
    expect(setExitCode(result, signal)).toBe(code)
  })
})
