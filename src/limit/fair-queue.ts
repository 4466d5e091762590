import type { Queue } from 'p-queue'

/** A job as p-queue hands it over. */
type RunFunction = () => Promise<unknown>

export interface FairQueueOptions {
  readonly id?: string
  /** Who waits: groups take turns, and within a group the first comes first. */
  readonly group?: string
  /** Lower ones come first within their group (default: after all others). */
  readonly place?: number
}

interface Waiting {
  readonly id: string | undefined
  readonly place: number
  readonly arrival: number
  readonly run: RunFunction
}

/** A queue for p-queue in which the group that was served longest ago is next. */
export class FairQueue implements Queue<RunFunction, FairQueueOptions> {
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #lastServed = new Map<string, number>()
  #turn = 0
  #arrivals = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  enqueue(run: RunFunction, options: FairQueueOptions = {}): void {
    const { id, place = Number.POSITIVE_INFINITY, group = '' } = options
    const entries = this.#waiting.get(group) ?? []
    this.#waiting.set(group, entries)
    const before = entries.findLastIndex((entry) => entry.place <= place)
    entries.splice(before + 1, 0, { id, place, arrival: ++this.#arrivals, run })
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
    let oldest: readonly [served: number, arrival: number] = [Number.POSITIVE_INFINITY, 0]
    for (const [group, [first]] of this.#waiting) {
      const served = this.#lastServed.get(group) ?? 0
      const arrival = first?.arrival ?? 0
      if (served > oldest[0] || (served === oldest[0] && arrival > oldest[1])) continue
      next = group
      oldest = [served, arrival]
    }
    return next
  }

  #drop(group: string): void {
    if (this.#waiting.get(group)?.length === 0) this.#waiting.delete(group)
  }
}
