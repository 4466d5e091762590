import { basename } from 'node:path'
import type { ErrorRecord } from '../../log/records/records.ts'
import type { LoadedTask } from '../../task/load-tasks.ts'
import type { EvalResult } from '../eval-parts.ts'
import type { ManifestTask, SetTaskState } from './folder/set-manifest.ts'
import { type AttemptVerdict, attemptVerdict } from './plan/attempt-verdict.ts'
import type { KnownLog } from './plan/set-logs.ts'
import { describeTask, type SetTask } from './plan/set-task.ts'
import type { SetTaskResult } from './set-options.ts'

/** What is known of one eval of a set while the set runs. */
export class SetEntry {
  /** Of the latest attempt. */
  task: SetTask
  /** When it may be tried again, by the set's clock. */
  dueAtMs = 0
  #state: SetTaskState = 'waiting'
  #attempts = 0
  #why: string | undefined
  #result: EvalResult | undefined
  /** Logs of it in the folder, paths by id of their eval. */
  readonly #logs: Map<string, string>
  #log: string | undefined

  constructor(task: SetTask, logs: readonly KnownLog[]) {
    this.task = task
    this.#logs = new Map(logs.map(({ header, path }) => [header.eval, path]))
    this.#log = logs.at(-1)?.path
  }

  get name(): string {
    return describeTask(this.task)
  }

  get attempts(): number {
    return this.#attempts
  }

  get isPending(): boolean {
    return this.#state === 'waiting' || this.#state === 'again'
  }

  /** An attempt begins. Returns what is run: the task, from its best log on. */
  begin(): LoadedTask {
    this.#state = 'running'
    this.#attempts++
    return { ...this.task.loaded, ...(this.#log !== undefined && { resume: this.#log }) }
  }

  ended(result: EvalResult, sampleErrors: readonly ErrorRecord[]): AttemptVerdict {
    const stopsEarly = this.task.loaded.task.definition.earlyStopping !== undefined
    const verdict: AttemptVerdict = result.wasComplete
      ? { kind: 'complete' }
      : attemptVerdict({ footer: result.footer, sampleErrors, stopsEarly })
    this.#result = result
    this.#log = result.log
    this.#state = verdict.kind
    this.#why = verdict.kind === 'complete' ? undefined : verdict.why
    return verdict
  }

  failed(why: string): void {
    this.#state = 'failed'
    this.#why = why
  }

  /** An attempt did not come about: it is as it was before. */
  putBack(): void {
    if (this.#state !== 'running') return
    this.#state = this.#result ? 'again' : 'waiting'
    this.#attempts--
  }

  usedUp(): void {
    const attempts = this.#attempts === 1 ? 'its attempt' : `its ${this.#attempts} attempts`
    this.failed(`${attempts} failed${this.#attempts === 1 ? '' : ', the last one'}: ${this.#why}`)
  }

  /** Paths of logs that its log goes on from. */
  get superseded(): string[] {
    const evals = this.#result?.header.lineage?.map((link) => link.eval) ?? []
    return evals.flatMap((id) => this.#logs.get(id) ?? [])
  }

  /** Its log takes the place of these, until one of a further attempt takes its own. */
  supersede(removed: readonly string[]): void {
    for (const [id, path] of this.#logs) if (removed.includes(path)) this.#logs.delete(id)
    if (this.#result) this.#logs.set(this.#result.header.eval, this.#result.log)
  }

  get log(): string | undefined {
    return this.#log
  }

  toManifest(): ManifestTask {
    const { key, id, parameters, model } = this.task
    return {
      ...{ key, id, parameters: { ...parameters }, model },
      state: this.#state,
      log: this.#log === undefined ? undefined : basename(this.#log),
      attempts: this.#attempts,
      totals: this.#result?.footer.totals,
      why: this.#why,
    }
  }

  toResult(): SetTaskResult {
    return { ...this.toManifest(), eval: this.#result }
  }
}
