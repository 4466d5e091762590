import type { Queue } from 'p-queue'

/** A job as p-queue hands it over. */
type RunFunction = () => Promise<unknown>

export interface FairQueueOptions {
  readonly id?: string
  /** Who waits: groups take turns, and within a group the first comes first. */
  readonly group?: string
}

interface Waiting {
  readonly id: string | undefined
  readonly run: RunFunction
}

/** A queue for p-queue in which the group that was served longest ago is next. */
export class FairQueue implements Queue<RunFunction, FairQueueOptions> {
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #lastServed = new Map<string, number>()
  #turn = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  enqueue(run: RunFunction, options: FairQueueOptions = {}): void {
    const group = options.group ?? ''
    const entry = { id: options.id, run }
    const entries = this.#waiting.get(group)
    if (entries) entries.push(entry)
    else this.#waiting.set(group, [entry])
    this.#size++
  }

  dequeue(): RunFunction | undefined {
    const group = this.#nextGroup()
    if (group === undefined) return undefined
    const entry = this.#waiting.get(group)?.shift()
    this.#lastServed.set(group, ++this.#turn)
    this.#drop(group)
    this.#size--
    return entry?.run
  }

  filter(options: Readonly<Partial<FairQueueOptions>>): RunFunction[] {
    return (this.#waiting.get(options.group ?? '') ?? []).map((entry) => entry.run)
  }

  /** Fairness leaves no room for priorities. */
  setPriority(): void {
    throw new Error('a fair queue has no priorities')
  }

  remove(id: string): void {
    for (const [group, entries] of this.#waiting) {
      const index = entries.findIndex((entry) => entry.id === id)
      if (index < 0) continue
      entries.splice(index, 1)
      this.#drop(group)
      this.#size--
      return
    }
  }

  #nextGroup(): string | undefined {
    let next: string | undefined
    let oldest = Number.POSITIVE_INFINITY
    for (const group of this.#waiting.keys()) {
      const served = this.#lastServed.get(group) ?? 0
      if (served < oldest) [next, oldest] = [group, served]
    }
    return next
  }

  #drop(group: string): void {
    if (this.#waiting.get(group)?.length === 0) this.#waiting.delete(group)
  }
}
