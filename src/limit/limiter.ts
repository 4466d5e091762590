import PQueue from 'p-queue'
import { FairQueue, type FairQueueOptions } from './fair-queue.ts'

/** A place in a limiter; disposing gives it back, once. */
export interface Slot extends Disposable {
  release(): void
}

export interface AcquireOptions {
  /** Groups take turns; within a group the first comes first. */
  readonly group?: string
  /** Goes before whoever has a later place, in its group (default: a new place, after all others). */
  readonly place?: number
  /** Ends the wait, rejecting with the signal's reason; a slot already held is not touched. */
  readonly signal?: AbortSignal
}

/** How many may hold a slot at once. Resizable at any time; lowering it takes nothing away from holders. */
export class Limiter {
  readonly #queue: PQueue<FairQueue, FairQueueOptions & { signal?: AbortSignal; id?: string }>
  #places = 0

  constructor(limit: number) {
    this.#queue = new PQueue({ concurrency: checkedLimit(limit), queueClass: FairQueue })
  }

  get limit(): number {
    return this.#queue.concurrency
  }

  set limit(limit: number) {
    this.#queue.concurrency = checkedLimit(limit)
  }

  /** Slots held now. */
  get held(): number {
    return this.#queue.pending
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** A place behind all others, to come back to when the same one asks several times. */
  newPlace(): number {
    this.#places += 1
    return this.#places
  }

  async acquire(options: AcquireOptions = {}): Promise<Slot> {
    const { group, signal, place = this.newPlace() } = options
    signal?.throwIfAborted()
    // p-queue frees the place of a running job when its signal aborts, so the signal that it gets is one for the wait alone.
    const wait = new AbortController()
    const endWait = () => wait.abort(signal?.reason)
    const unfollow = () => signal?.removeEventListener('abort', endWait)
    signal?.addEventListener('abort', endWait, { once: true })
    return new Promise<Slot>((resolve, reject) => {
      const hold = () =>
        new Promise<void>((release) => {
          unfollow()
          resolve(slot(release))
        })
      this.#queue.add(hold, { group, place, signal: wait.signal }).catch(reject)
    })
  }
}

function slot(release: () => void): Slot {
  return { release, [Symbol.dispose]: release }
}

/** @throws TypeError */
export function checkedLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1) return limit
  throw new TypeError(`expected a limit that is an integer of at least 1, got ${limit} (${typeof limit})`)
}
