import type { OwnerState } from './verdict.ts'
import { judge, type Liveness } from './verdict.ts'

/** What one look shows of a run, as far as judging it goes. */
export interface Seen {
  readonly run: string
  readonly owner: OwnerState
  readonly anchored: boolean
  readonly anchorless: boolean
}

/** Looks at the engine, one after the other, and what they say together. */
export class Looks {
  readonly #ownRun: string | undefined
  readonly #absentSinceMs = new Map<string, number>()

  constructor(ownRun?: string) {
    this.#ownRun = ownRun
  }

  /** Judges every run that this look shows. `nowMs` is of a clock that never jumps. */
  take(seen: readonly Seen[], nowMs: number): Map<string, Liveness> {
    const verdicts = new Map<string, Liveness>()
    for (const { run, ...facts } of seen) {
      const absentSinceMs = this.#absentSinceMs.get(run)
      verdicts.set(run, judge({ ...facts, own: run === this.#ownRun, absentSinceMs, nowMs }))
      if (facts.anchored) this.#absentSinceMs.delete(run)
      else if (absentSinceMs === undefined) this.#absentSinceMs.set(run, nowMs)
    }
    return verdicts
  }
}
