/** Milliseconds on a clock that never jumps, for deadlines, durations and pauses. Its zero means nothing. */
export const steadyNow = (): number => performance.now()

/** When something began, by the clock on the wall, and how long it has taken since. */
export interface Timing {
  readonly startedMs: number
  readonly durationMs: number
}

/** Begins to take the time; the function it returns tells it, in whole milliseconds. */
export function stopwatch(): () => Timing {
  const startedMs = Date.now()
  const begin = steadyNow()
  return () => ({ startedMs, durationMs: Math.round(steadyNow() - begin) })
}
