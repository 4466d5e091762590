import { type NotCompletedReason, SampleNotCompletedError } from '../../errors.ts'
import type { SampleRecord } from '../../log/records/records.ts'
import type { SampleId } from '../../sample/sample-id.ts'

/** Collects what became of the epochs of an enqueued sample, for whoever calls `completed()`. */
export class Completion {
  readonly #id: SampleId
  readonly #epochs: number
  readonly #records = new Map<number, SampleRecord>()
  readonly #abandoned = new Map<number, string>()
  #waiting: { resolve: (records: SampleRecord[]) => void; reject: (error: Error) => void }[] = []
  #failure: (() => Error) | undefined

  constructor(id: SampleId, epochs: number) {
    this.#id = id
    this.#epochs = epochs
  }

  /** Whether every epoch has ended. */
  get isDone(): boolean {
    return this.#records.size + this.#abandoned.size === this.#epochs
  }

  completed(): Promise<SampleRecord[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#settle()
    })
  }

  add(record: SampleRecord): void {
    if (this.#failure) return
    this.#records.set(record.epoch, record)
    this.#end()
  }

  /** One epoch ended without a record. */
  abandon(epoch: number, why: string): void {
    if (!this.#records.has(epoch)) this.#abandoned.set(epoch, why)
    this.#end()
  }

  /** Nothing more will come. */
  fail(reason: NotCompletedReason, why?: string): void {
    const id = String(this.#id)
    const message = why === undefined ? undefined : `sample '${id}' did not complete: ${why}`
    this.#failure ??= () => new SampleNotCompletedError({ id, reason, records: this.#inOrder(), message })
    this.#settle()
  }

  #end(): void {
    const [why] = this.#abandoned.values()
    if (this.isDone && why !== undefined) this.fail('abandoned', why)
    else this.#settle()
  }

  #settle(): void {
    if (!this.isDone && !this.#failure) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const { resolve, reject } of waiting) {
      if (this.#failure) reject(this.#failure())
      else resolve(this.#inOrder())
    }
  }

  #inOrder(): SampleRecord[] {
    return [...this.#records.values()].sort((one, other) => one.epoch - other.epoch)
  }
}
