import { AsyncLocalStorage } from 'node:async_hooks'
import { steadyNow } from '../util/clock.ts'

/** Measures working time: wall-clock time without what was spent waiting. Waits may overlap; they count once. */
export class WorkClock {
  readonly #now: () => number
  #startedMs: number
  #waits = 0
  #waitBeganMs = 0
  #waitedMs = 0
  #waitedBeforeMs = 0
  /** Until when waits have been counted. */
  #countedMs = Number.NEGATIVE_INFINITY

  constructor(now: () => number = steadyNow) {
    this.#now = now
    this.#startedMs = now()
  }

  /** Work begins now: what was before is no time of it. */
  begin(): void {
    this.#startedMs = this.#now()
    this.#waitedBeforeMs = this.waitedMs
  }

  get wallMs(): number {
    return this.#now() - this.#startedMs
  }

  get waitedMs(): number {
    return this.#waitedMs + (this.#waits > 0 ? this.#now() - this.#waitBeganMs : 0)
  }

  get workingMs(): number {
    return this.wallMs - (this.waitedMs - this.#waitedBeforeMs)
  }

  async whileWaiting<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#waits++ === 0) this.#waitBeganMs = this.#now()
    try {
      return await wait()
    } finally {
      if (--this.#waits === 0) this.#count(this.#waitBeganMs, this.#now())
    }
  }

  /** What went on since then turned out to have been a wait. */
  waitedSince(sinceMs: number): void {
    this.#count(sinceMs, this.#waits > 0 ? this.#waitBeganMs : this.#now())
  }

  #count(fromMs: number, toMs: number): void {
    this.#waitedMs += Math.max(0, toMs - Math.max(fromMs, this.#countedMs))
    this.#countedMs = Math.max(this.#countedMs, toMs)
  }
}

const clocks = new AsyncLocalStorage<WorkClock | undefined>()

/** What the work waits for that is not its own, such as a turn, stands still on the clock. */
export function byClock<T>(clock: WorkClock, work: () => Promise<T>): Promise<T> {
  return clocks.run(clock, work)
}

/** What is no working time in the first place: its waits are not taken off. */
export function offTheClock<T>(work: () => Promise<T>): Promise<T> {
  return clocks.run(undefined, work)
}

/** Waits for a turn: no working time of whatever work this is part of. */
export function whileWaitingForTurn<T>(wait: () => Promise<T>): Promise<T> {
  const clock = clocks.getStore()
  return clock ? clock.whileWaiting(wait) : wait()
}
