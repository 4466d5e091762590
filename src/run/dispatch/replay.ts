import type { SampleRecord } from '../../log/records/records.ts'
import { Heap } from '../../util/heap.ts'
import type { PlannedRun } from './planned-sample.ts'

/** What an earlier log that is resumed says of one epoch of a sample. */
export type PriorRun =
  /** It has ended there, and is not run. `order`: its place in that log. */
  | { readonly kind: 'reused'; readonly order: number; readonly load: () => Promise<SampleRecord> }
  /** It failed there, and is run again. */
  | { readonly kind: 'again'; readonly superseded: SampleRecord }
  /** It is not to be run this time. */
  | { readonly kind: 'left'; readonly why: string; readonly superseded: SampleRecord | undefined }

export interface ReusedRun {
  readonly run: PlannedRun
  readonly order: number
  readonly load: () => Promise<SampleRecord>
}

/**
 * Settles runs that an earlier log has the records of, one after the other in the order of that log, and holds back all others until that is
 * done: what is added on account of them is added in the order in which it was.
 */
export class Replay {
  readonly #settle: (reused: ReusedRun) => Promise<void>
  readonly #changed: () => void
  readonly #waiting = new Heap<ReusedRun>((one, other) => one.order - other.order)
  #isWorking = false
  #isReleased = false

  constructor(settle: (reused: ReusedRun) => Promise<void>, changed: () => void) {
    this.#settle = settle
    this.#changed = changed
  }

  get isWorking(): boolean {
    return this.#isWorking
  }

  get isHolding(): boolean {
    return this.#isWorking && !this.#isReleased
  }

  /** A callback waits for a sample that is held back. */
  release(): void {
    if (!this.isHolding) return
    this.#isReleased = true
    this.#changed()
  }

  add(reused: ReusedRun): void {
    this.#waiting.push(reused)
    if (this.#isWorking) return
    this.#isWorking = true
    // Those that are added together come in their order.
    queueMicrotask(() => void this.#work())
  }

  async #work(): Promise<void> {
    for (let next = this.#waiting.pop(); next; next = this.#waiting.pop()) await this.#settle(next)
    this.#isWorking = false
    this.#isReleased = false
    this.#changed()
  }
}
