import type { RunResult } from '../run/evaluate.ts'
import type { SetResult } from '../run/set/set-options.ts'

export const EXIT_CODES = {
  success: 0,
  sampleErrors: 1,
  usage: 2,
  evalFailed: 3,
  left: 4,
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const

export type StopSignal = 'SIGHUP' | 'SIGINT' | 'SIGTERM'

/** The first that applies: stopped by a signal, something left, an eval that failed, errors in samples. */
export function exitCode(result: RunResult, stopped: StopSignal | undefined): number {
  if (stopped) return EXIT_CODES[stopped]
  if (result.left.length > 0) return EXIT_CODES.left
  if (result.evals.some(({ status }) => status !== 'success')) return EXIT_CODES.evalFailed
  return result.evals.some(({ footer }) => footer.totals.error > 0)
    ? EXIT_CODES.sampleErrors
    : EXIT_CODES.success
}

/** As for a run, by the last attempt at each task; one that is not complete for another reason than errors in its samples has failed. */
export function setExitCode({ tasks, left }: SetResult, stopped: StopSignal | undefined): number {
  if (stopped) return EXIT_CODES[stopped]
  if (left.length > 0) return EXIT_CODES.left
  const open = tasks.filter(({ state }) => state !== 'complete')
  if (open.length === 0) return EXIT_CODES.success
  const hasOnlyErrors = open.every(
    ({ eval: last }) => last?.status === 'success' && last.footer.totals.error > 0,
  )
  return hasOnlyErrors ? EXIT_CODES.sampleErrors : EXIT_CODES.evalFailed
}
