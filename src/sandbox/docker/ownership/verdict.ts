/** Whether the process that made a run's objects lives: `unknown` where its pid means nothing here. */
export type OwnerState = 'alive' | 'dead' | 'unknown'

export type Liveness = 'alive' | 'dead' | 'suspect'

/** A live run makes its anchor anew after the engine was restarted: until then one look proves nothing. */
export const SECOND_LOOK_MS = 60_000

/** What one look at the engine shows of a run. */
export interface RunSighting {
  readonly own: boolean
  readonly owner: OwnerState
  /** Its anchor was seen running. */
  readonly anchored: boolean
  /** Nothing of it says that it ever had an anchor: their absence proves nothing. */
  readonly anchorless: boolean
  /** When it was first seen without its anchor, if it has been seen without since; on the same monotonic clock as `nowMs`. */
  readonly absentSinceMs: number | undefined
  readonly nowMs: number
}

/** Judges one run. Only `dead` permits removing what it made. */
export function judge(sighting: RunSighting): Liveness {
  const { own, owner, anchored, anchorless, absentSinceMs, nowMs } = sighting
  if (own || owner === 'alive') return 'alive'
  if (owner === 'dead') return 'dead'
  if (anchored) return 'alive'
  if (anchorless || absentSinceMs === undefined) return 'suspect'
  return nowMs - absentSinceMs >= SECOND_LOOK_MS ? 'dead' : 'suspect'
}
