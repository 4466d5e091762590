import type { Limiter, Slot } from '../../../limit/limiter.ts'

/** Sandboxes that are started at once by default: more on two processors only make each start take longer. */
export function defaultMaxStarts(cpus: number): number {
  return Math.max(2, 2 * cpus)
}

/**
 * One sandbox's place among those that are being started. It is held while any of its services is made or started, and
 * given to others while all that it does is wait for services to become healthy or to complete. Then it goes before
 * sandboxes that came later: one that is up is of use, ten halves are not.
 */
export class StartTurn implements Disposable {
  readonly #limiter: Limiter
  readonly #signal: AbortSignal
  readonly #place: number
  #busy = 0
  #slot: Promise<Slot> | undefined

  constructor(limiter: Limiter, signal: AbortSignal) {
    this.#limiter = limiter
    this.#signal = signal
    this.#place = limiter.newPlace()
  }

  /** Resolves when this sandbox may start things, until `leave`. @throws the signal's reason */
  async enter(): Promise<void> {
    this.#busy += 1
    this.#slot ??= this.#limiter.acquire({ place: this.#place, signal: this.#signal })
    try {
      await this.#slot
    } catch (error) {
      this.#busy -= 1
      throw error
    }
  }

  leave(): void {
    this.#busy -= 1
    if (this.#busy === 0) this.#release()
  }

  [Symbol.dispose](): void {
    this.#release()
  }

  #release(): void {
    const slot = this.#slot
    this.#slot = undefined
    slot?.then(
      (held) => held.release(),
      () => undefined,
    )
  }
}
