import { Fifo } from '../../util/fifo.ts'
import type { PlannedRun } from './planned-sample.ts'

/** Runs that could start, in order, without those that are held or have ended meanwhile; and all runs that have not ended, by key. */
export class RunQueue {
  readonly #ready = new Fifo<PlannedRun>()
  readonly #held = new Set<PlannedRun>()
  readonly #live = new Map<string, PlannedRun>()

  get live(): IterableIterator<PlannedRun> {
    return this.#live.values()
  }

  find(key: string): PlannedRun | undefined {
    return this.#live.get(key)
  }

  enter(run: PlannedRun): void {
    this.#live.set(run.key, run)
  }

  leave(run: PlannedRun): void {
    run.control.state = 'ended'
    this.#held.delete(run)
    if (this.#live.get(run.key) === run) this.#live.delete(run.key)
  }

  ready(run: PlannedRun): void {
    if (run.control.state === 'ended') return
    run.control.does('queue')
    this.#ready.push(run)
  }

  /** A run that was held may start. */
  letGo(run: PlannedRun): void {
    if (this.#held.delete(run)) this.#ready.push(run)
  }

  next(): PlannedRun | undefined {
    while (this.#ready.size > 0) {
      const run = this.#ready.shift()
      if (!run || run.control.state === 'ended') continue
      if (!run.control.isHeld) return run
      this.#held.add(run)
    }
    return undefined
  }

  clear(): void {
    this.#ready.clear()
    this.#held.clear()
  }
}
