import { steadyNow } from '../util/clock.ts'
import { type AcquireOptions, checkedLimit, Limiter, type Slot } from './limiter.ts'

export type LimitChangeReason = 'slow_start' | 'steady_state_up' | 'rate_limit' | 'manual'

export interface LimitChange {
  readonly atMs: number
  readonly from: number
  readonly to: number
  readonly reason: LimitChangeReason
}

export interface ConnectionLimiterOptions {
  /** So many from the beginning on; left out: as many as prove to be well. */
  readonly limit?: number
  /** Where it starts when it adapts (default 10). */
  readonly start?: number
  /** How far it grows when it adapts (default 100). */
  readonly max?: number
  /** A clock that never jumps. */
  readonly now?: () => number
}

const DEFAULT_START = 10
const DEFAULT_MAX = 100
const CUT = 0.7
const GROWTH = 0.05
/** A round counts when so much of the limit was in use in it: what was not tried proves nothing. */
const BUSY = 0.8
/** Calls that were under way at a cut fail as it did, so they cut no further; nothing grows meanwhile either. */
const COOLDOWN_MS = 10_000
const MAX_HISTORY = 200

/**
 * How many calls of one model are under way at once. It doubles with each round of as many successes as the limit until the provider refuses
 * the first for their rate, is cut to 70 % by each refusal, and then grows by 5 % a round. A limit that was set stays.
 */
export class ConnectionLimiter {
  readonly #limiter: Limiter
  readonly #max: number
  readonly #now: () => number
  readonly #history: LimitChange[] = []
  #adapts: boolean
  #isSlowStart = true
  #successes = 0
  #peak = 0
  #coolUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: ConnectionLimiterOptions = {}) {
    const { limit, start = DEFAULT_START, max = Math.max(DEFAULT_MAX, start), now = steadyNow } = options
    this.#limiter = new Limiter(limit ?? start)
    this.#max = checkedLimit(max)
    this.#now = now
    this.#adapts = limit === undefined
  }

  get limit(): number {
    return this.#limiter.limit
  }

  get held(): number {
    return this.#limiter.held
  }

  get waiting(): number {
    return this.#limiter.waiting
  }

  get adapts(): boolean {
    return this.#adapts
  }

  /** The last 200 changes, first to last. */
  get history(): readonly LimitChange[] {
    return this.#history
  }

  /** Fixes the limit; undefined lets it adapt again, from where it is. */
  set(limit: number | undefined): void {
    if (limit !== undefined) this.#change(checkedLimit(limit), 'manual')
    this.#adapts = limit === undefined
    this.#isSlowStart = false
    this.#startRound()
  }

  async acquire(options?: AcquireOptions): Promise<Slot> {
    const slot = await this.#limiter.acquire(options)
    this.#peak = Math.max(this.#peak, this.held)
    return slot
  }

  /** A call got its answer. */
  succeeded(): void {
    if (!this.#adapts || this.#now() < this.#coolUntilMs) return
    if (++this.#successes < this.limit) return
    const { limit } = this
    const wasBusy = this.#peak >= BUSY * limit
    this.#startRound()
    if (!wasBusy) return
    const grown = this.#isSlowStart ? limit * 2 : limit + Math.ceil(limit * GROWTH)
    this.#change(Math.min(this.#max, grown), this.#isSlowStart ? 'slow_start' : 'steady_state_up')
  }

  /** The provider refused a call because there were too many, and may have said how long it wants to be left alone. */
  refused(retryAfterMs = 0): void {
    const now = this.#now()
    const isKnown = now < this.#coolUntilMs
    this.#coolUntilMs = Math.max(this.#coolUntilMs, now + Math.max(COOLDOWN_MS, retryAfterMs))
    this.#isSlowStart = false
    if (!this.#adapts || isKnown) return
    this.#startRound()
    this.#change(Math.max(1, Math.floor(this.limit * CUT)), 'rate_limit')
  }

  #startRound(): void {
    this.#successes = 0
    this.#peak = this.held
  }

  #change(to: number, reason: LimitChangeReason): void {
    const from = this.limit
    if (from === to) return
    this.#limiter.limit = to
    this.#history.push({ atMs: Date.now(), from, to, reason })
    if (this.#history.length > MAX_HISTORY) this.#history.shift()
  }
}
