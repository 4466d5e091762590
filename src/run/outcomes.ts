import { BelljarError } from '../errors.ts'
import type { FooterRecord, SampleRecord, Totals } from '../log/records/records.ts'
import type { PlannedRun } from './dispatch/planned-sample.ts'
import { endsEval, isFailed } from './error-policy.ts'
import type { ResolvedTask } from './resolved-task.ts'
import { Results } from './results.ts'

interface EndedRun {
  readonly run: PlannedRun
  readonly record: SampleRecord
}

/** Without what only the log has to keep: a hundred thousand of them may fail. */
function slim(record: SampleRecord): SampleRecord {
  const none = { input: '', inputParts: undefined, target: undefined, output: '' }
  return { ...record, ...none, messages: [], phases: [], usage: {} }
}

/** What became of every run of an eval: totals and scores, which errors are too many, and what may still be run again. */
export class Outcomes {
  readonly #task: ResolvedTask
  readonly #results: Results
  readonly #again = new Map<string, EndedRun>()
  #lastError: SampleRecord | undefined

  constructor(task: ResolvedTask) {
    this.#task = task
    this.#results = new Results(task)
  }

  get totals(): Readonly<Required<Totals>> {
    return this.#results.totals
  }

  get versions(): string[] {
    return this.#results.versions
  }

  /** Whether one more error would end the eval. */
  get wouldEndEval(): boolean {
    const { error, total } = this.totals
    return endsEval(this.#task.policy, { errors: error + 1, total })
  }

  planned(samples: number): void {
    this.#results.planned(samples * this.#task.epochs)
  }

  scores(): FooterRecord['scores'] {
    return this.#results.scores()
  }

  /** Takes a record into account. Returns the error that ends the eval, if it does. */
  add(run: PlannedRun, record: SampleRecord): Error | undefined {
    this.#results.add(run.planned.index, record)
    const kept = slim(record)
    if (record.status === 'error' || record.status === 'cancelled')
      this.#again.set(run.key, { run, record: kept })
    if (record.status !== 'error') return undefined
    this.#lastError = kept
    const { error, total } = this.totals
    return endsEval(this.#task.policy, { errors: error, total }) ? this.#tooMany(record) : undefined
  }

  /** Takes a record of an earlier eval into account. */
  reused(run: PlannedRun, record: SampleRecord): void {
    this.#results.reused(run.planned.index, record)
  }

  /** A run ended without a record. What it was to take the place of stands again. Returns whether it is news to the source. */
  abandon(run: PlannedRun): boolean {
    const { planned, superseded } = run
    if (!superseded) {
      this.#results.abandoned()
      return true
    }
    this.#results.add(planned.index, superseded)
    this.#again.set(run.key, { run, record: superseded })
    return false
  }

  /** The outcome of a run that is to be run again: it counts no more. */
  takeBack(key: string): EndedRun | undefined {
    const ended = this.#again.get(key)
    if (!ended) return undefined
    this.#again.delete(key)
    this.#results.retract(ended.run.planned.index, ended.record)
    return ended
  }

  /** The error of an eval in which too many samples failed, once all has ended. */
  get failure(): Error | undefined {
    const { error, total } = this.totals
    const isFailure = isFailed(this.#task.policy.failOnError, { errors: error, total })
    return isFailure && this.#lastError ? this.#tooMany(this.#lastError) : undefined
  }

  #tooMany(record: SampleRecord): BelljarError {
    const { error, total } = this.totals
    const { failOnError } = this.#task.policy
    const { unfinished } = this.#results
    const parts = [
      `sample '${record.id}' (epoch ${record.epoch}) failed: ${record.error?.message ?? 'unknown error'}`,
    ]
    if (failOnError !== true)
      parts.unshift(`${error} of ${total} failed (failOnError: ${failOnError}), the last being`)
    if (unfinished > 0) parts.push(`(${unfinished} of ${total} unfinished)`)
    return new BelljarError(record.error?.code ?? 'error', parts.join(' '))
  }
}
