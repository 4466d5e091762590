/** Measures working time: wall-clock time without what was spent waiting. Waits may overlap; they count once. */
export class WorkClock {
  readonly #now: () => number
  readonly #startedMs: number
  #waits = 0
  #waitedSince = 0
  #waitedMs = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
    this.#startedMs = now()
  }

  get wallMs(): number {
    return this.#now() - this.#startedMs
  }

  get waitedMs(): number {
    return this.#waitedMs + (this.#waits > 0 ? this.#now() - this.#waitedSince : 0)
  }

  get workingMs(): number {
    return this.wallMs - this.waitedMs
  }

  async whileWaiting<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#waits++ === 0) this.#waitedSince = this.#now()
    try {
      return await wait()
    } finally {
      if (--this.#waits === 0) this.#waitedMs += this.#now() - this.#waitedSince
    }
  }
}
