import { BelljarError } from '../../errors.ts'
import type { PlannedRun } from './planned-sample.ts'

interface Waiter {
  readonly run: PlannedRun
  readonly forWhat: string
  readonly reject: (error: Error) => void
}

/**
 * Knows, over all evals of a run, who holds a sandbox, who waits for one, and who waits for another sample. Where all sandboxes are held by
 * samples that wait for samples that wait for a sandbox, nothing would ever happen: the last to wait gets an error that says so.
 */
export class SandboxWaits {
  readonly #live = new Set<PlannedRun>()
  readonly #holding = new Map<PlannedRun, number>()
  readonly #blocked = new Set<PlannedRun>()
  readonly #waiters: Waiter[] = []
  #pendingGates = 0
  #isLooking = false

  begin(run: PlannedRun): void {
    this.#live.add(run)
  }

  end(run: PlannedRun): void {
    this.#live.delete(run)
    this.#look()
  }

  /** The run waits for a sandbox slot until what is returned is called. */
  block(run: PlannedRun): () => void {
    this.#blocked.add(run)
    this.#look()
    return () => void this.#blocked.delete(run)
  }

  up(run: PlannedRun): void {
    this.#holding.set(run, (this.#holding.get(run) ?? 0) + 1)
  }

  removed(run: PlannedRun): void {
    const left = (this.#holding.get(run) ?? 1) - 1
    if (left > 0) this.#holding.set(run, left)
    else this.#holding.delete(run)
    this.#look()
  }

  /** Samples wait for a configuration until this has settled. */
  async gate(settled: Promise<void>): Promise<void> {
    this.#pendingGates++
    await settled
    this.#pendingGates--
    this.#look()
  }

  /** The run waits for a sample. @throws BelljarError `sandbox-deadlock` */
  async wait<T>(run: PlannedRun, forWhat: string, work: () => Promise<T>): Promise<T> {
    const waiter = { run, forWhat, reject: (_error: Error): void => undefined }
    const stuck = new Promise<never>((_resolve, reject) => {
      waiter.reject = reject
    })
    this.#waiters.push(waiter)
    this.#look()
    try {
      return await Promise.race([stuck, work()])
    } finally {
      const index = this.#waiters.indexOf(waiter)
      if (index >= 0) this.#waiters.splice(index, 1)
    }
  }

  /** Once what is under way has come to rest. */
  #look(): void {
    if (this.#isLooking || this.#blocked.size === 0 || this.#waiters.length === 0) return
    this.#isLooking = true
    setImmediate(() => {
      this.#isLooking = false
      const last = this.#waiters.at(-1)
      if (last && this.#isStuck()) last.reject(this.#stuckError(last))
    })
  }

  #isStuck(): boolean {
    if (this.#blocked.size === 0 || this.#waiters.length === 0 || this.#pendingGates > 0) return false
    const waiting = new Set(this.#waiters.map(({ run }) => run))
    return (
      [...this.#holding.keys()].every((run) => waiting.has(run)) &&
      [...this.#live].every((run) => waiting.has(run) || this.#blocked.has(run))
    )
  }

  #stuckError({ forWhat }: Waiter): BelljarError {
    const holders = [...this.#holding.keys()].map(({ name }) => name).join(', ')
    const blocked = [...this.#blocked].map(({ name }) => name).join(', ')
    return new BelljarError(
      'sandbox-deadlock',
      `waiting for sample '${forWhat}' would never end: every sandbox is held by a sample that waits for another (${holders}), and ${blocked} cannot get one; allow more with --max-sandboxes`,
    )
  }
}
