import { LimitExceededError } from '../errors.ts'
import type { SampleLimits } from './budget.ts'
import type { WorkClock } from './work-clock.ts'

/** Limits may change at any time, so they are looked at this often at least. */
const LOOK_EVERY_MS = 1000

export interface TimeWatchOptions {
  readonly limits: SampleLimits
  readonly clock: WorkClock
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
}

/** Resolves with the limit of time that was reached; undefined when the signal was aborted before. */
export async function timeLimitReached(options: TimeWatchOptions): Promise<LimitExceededError | undefined> {
  const { limits, clock, sleep, signal } = options
  while (!signal.aborted) {
    const wallLeft = (limits.timeMs ?? Number.POSITIVE_INFINITY) - clock.wallMs
    const workLeft = (limits.workingMs ?? Number.POSITIVE_INFINITY) - clock.workingMs
    if (limits.timeMs !== undefined && wallLeft <= 0)
      return new LimitExceededError({ type: 'time', limit: limits.timeMs })
    if (limits.workingMs !== undefined && workLeft <= 0)
      return new LimitExceededError({ type: 'working', limit: limits.workingMs })
    await sleep(Math.ceil(Math.min(wallLeft, workLeft, LOOK_EVERY_MS)), signal).catch(() => undefined)
  }
  return undefined
}
