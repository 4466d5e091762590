const LONGEST_MS = 3_600_000

/** The pause after an attempt (from 1 on): doubled each time, an hour at most. */
export function retryPauseMs(attempt: number, firstMs: number): number {
  return Math.min(firstMs * 2 ** (attempt - 1), LONGEST_MS)
}
