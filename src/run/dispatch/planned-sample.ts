import { SampleNotCompletedError } from '../../errors.ts'
import type { SampleRecord } from '../../log/records.ts'
import type { Sample } from '../../sample/sample.ts'
import type { SampleId } from '../../sample/sample-id.ts'
import type { Gate } from '../config/config-gate.ts'

/** A sample that has its id and its place in the plan. */
export interface PlannedSample {
  readonly id: SampleId
  /** Position in the plan, from 0: what results are ordered by. */
  readonly index: number
  readonly sample: Sample
  /** The object as it was added, which a source may recognise. */
  readonly added: Sample
  readonly gate: Gate
  readonly completion?: Completion
}

/** One epoch of a planned sample. */
export interface PlannedRun {
  readonly planned: PlannedSample
  readonly epoch: number
}

/** Collects what became of the epochs of an enqueued sample, for whoever calls `completed()`. */
export class Completion {
  readonly #id: SampleId
  readonly #epochs: number
  readonly #records = new Map<number, SampleRecord>()
  #waiting: { resolve: (records: SampleRecord[]) => void; reject: (error: Error) => void }[] = []
  #failure: (() => Error) | undefined

  constructor(id: SampleId, epochs: number) {
    this.#id = id
    this.#epochs = epochs
  }

  get isDone(): boolean {
    return this.#records.size === this.#epochs
  }

  completed(): Promise<SampleRecord[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#settle()
    })
  }

  add(record: SampleRecord): void {
    this.#records.set(record.epoch, record)
    this.#settle()
  }

  /** The task ended before every epoch did. */
  end(): void {
    this.#failure ??= () =>
      new SampleNotCompletedError({ id: String(this.#id), reason: 'task-ended', records: this.#inOrder() })
    this.#settle()
  }

  #settle(): void {
    if (!this.isDone && !this.#failure) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const { resolve, reject } of waiting) {
      if (this.isDone) resolve(this.#inOrder())
      else if (this.#failure) reject(this.#failure())
    }
  }

  #inOrder(): SampleRecord[] {
    return [...this.#records.values()].sort((one, other) => one.epoch - other.epoch)
  }
}
