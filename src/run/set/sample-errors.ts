import type { ErrorRecord } from '../../log/records/records.ts'
import type { RunEvent } from '../run-event.ts'

/** The errors of samples by eval, one of each sort: there may be a hundred thousand. */
export class SampleErrors {
  readonly #byEval = new Map<string, Map<string, ErrorRecord>>()

  take(event: RunEvent): void {
    if (event.type !== 'sample-end' || !event.record.error) return
    const { kind, code, message, transient } = event.record.error
    const errors = this.#byEval.get(event.eval) ?? new Map<string, ErrorRecord>()
    this.#byEval.set(event.eval, errors)
    const sort = `${kind} ${code} ${transient}`
    if (!errors.has(sort)) errors.set(sort, { kind, code, message, transient })
  }

  of(evalId: string): ErrorRecord[] {
    return [...(this.#byEval.get(evalId)?.values() ?? [])]
  }
}
