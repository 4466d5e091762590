import { Fifo } from '../../util/fifo.ts'
import type { PlannedRun } from './planned-sample.ts'

interface Absence {
  waits: number
  isBack: boolean
  readonly resume: (() => void)[]
}

/**
 * How many runs may be at work at once. A run that waits for another sample gives its slot up for so long and takes it back in turn,
 * before any new run. A run that waits for a sandbox keeps its slot from new runs but not from those that come back:
 * they may be what holds the sandbox.
 */
export class SampleSlots {
  readonly #absent = new Map<PlannedRun, Absence>()
  readonly #returning = new Fifo<PlannedRun>()
  readonly #onFree: () => void
  #limit: number
  #held = 0
  #blocked = 0

  constructor(limit: number, onFree: () => void) {
    this.#limit = limit
    this.#onFree = onFree
  }

  get limit(): number {
    return this.#limit
  }

  set limit(limit: number) {
    this.#limit = limit
    this.#freed()
  }

  get held(): number {
    return this.#held
  }

  get hasRoom(): boolean {
    return this.#held < this.#limit
  }

  take(): void {
    this.#held++
  }

  release(run: PlannedRun): void {
    const absence = this.#absent.get(run)
    this.#absent.delete(run)
    if (absence) for (const resume of absence.resume) resume()
    else this.#held--
    this.#freed()
  }

  /** The run waits for a sandbox until what is returned is called. */
  block(): () => void {
    this.#blocked++
    this.#freed()
    let isOver = false
    return () => {
      if (!isOver) this.#blocked--
      isOver = true
    }
  }

  /** Gives up the slot of a run for as long as it waits for another sample. */
  async whileWaiting<T>(run: PlannedRun, wait: () => Promise<T>): Promise<T> {
    this.leave(run)
    try {
      return await wait()
    } finally {
      await this.comeBack(run)
    }
  }

  /** The run waits for another sample. */
  leave(run: PlannedRun): void {
    const absence = this.#absent.get(run)
    if (absence) {
      absence.waits++
      return
    }
    this.#absent.set(run, { waits: 1, isBack: false, resume: [] })
    this.#held--
    this.#freed()
  }

  /** One wait is over. Resolves when the run holds a slot, or at once while it still waits for others. */
  async comeBack(run: PlannedRun): Promise<void> {
    const absence = this.#absent.get(run)
    if (!absence || --absence.waits > 0) return
    if (!absence.isBack) this.#returning.push(run)
    absence.isBack = true
    const back = new Promise<void>((resolve) => absence.resume.push(resolve))
    this.#freed()
    await back
  }

  /** Whoever waits to come back does so now: the eval has ended. */
  open(): void {
    this.#limit = Number.POSITIVE_INFINITY
    this.#freed()
  }

  #freed(): void {
    while (this.#returning.size > 0 && this.#held - this.#blocked < this.#limit) {
      const run = this.#returning.shift()
      const absence = run && this.#absent.get(run)
      if (!run || !absence) continue
      absence.isBack = false
      if (absence.waits > 0) continue
      this.#absent.delete(run)
      this.#held++
      for (const resume of absence.resume) resume()
    }
    if (this.hasRoom) this.#onFree()
  }
}
