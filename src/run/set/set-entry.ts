import { errorMessage } from '../../errors.ts'
import type { ErrorRecord } from '../../log/records/records.ts'
import type { EvalResult } from '../eval-parts.ts'
import { attemptVerdict } from './attempt-verdict.ts'
import { logNameOf } from './set-folder.ts'
import type { KnownLog } from './set-logs.ts'
import type { ManifestTask, SetTaskState } from './set-manifest.ts'
import type { SetTaskResult } from './set-options.ts'
import type { SetTask } from './set-task.ts'

/** What is known of one eval of a set while the set runs. */
export class SetEntry {
  /** Of the latest attempt. */
  task: SetTask
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

  /** The log to go on from. */
  get log(): string | undefined {
    return this.#log
  }

  get state(): SetTaskState {
    return this.#state
  }

  get isPending(): boolean {
    return this.#state === 'waiting' || this.#state === 'again'
  }

  begin(): void {
    this.#state = 'running'
    this.#attempts++
  }

  ended(result: EvalResult, sampleErrors: readonly ErrorRecord[]): void {
    this.#result = result
    this.#log = result.log
    const verdict = result.wasComplete
      ? ({ kind: 'complete' } as const)
      : attemptVerdict({ footer: result.footer, sampleErrors, stopsEarly: this.#stopsEarly })
    this.#state = verdict.kind
    this.#why = verdict.kind === 'complete' ? undefined : verdict.why
  }

  get #stopsEarly(): boolean {
    return this.task.loaded.task.definition.earlyStopping !== undefined
  }

  /** The attempt could not be begun, or did not end. */
  broken(error: unknown): void {
    if (this.#state !== 'running') return
    this.#state = 'again'
    this.#why = errorMessage(error)
  }

  usedUp(): void {
    if (this.#state !== 'again') return
    this.#state = 'failed'
    const attempts =
      this.#attempts === 1 ? 'its attempt failed' : `its ${this.#attempts} attempts failed, the last one`
    this.#why = `${attempts}: ${this.#why}`
  }

  /** Paths of logs that its log goes on from. */
  get superseded(): string[] {
    const evals = this.#result?.header.lineage?.map((link) => link.eval) ?? []
    return evals.flatMap((id) => this.#logs.get(id) ?? [])
  }

  forget(log: string): void {
    for (const [id, path] of this.#logs) if (path === log) this.#logs.delete(id)
  }

  /** Its log may be superseded by that of a further attempt. */
  keepLog(): void {
    if (this.#result) this.#logs.set(this.#result.header.eval, this.#result.log)
  }

  toManifest(): ManifestTask {
    const { key, id, parameters, model } = this.task
    return {
      ...{ key, id, parameters: { ...parameters }, model },
      state: this.#state,
      log: this.#log === undefined ? undefined : logNameOf(this.#log),
      attempts: this.#attempts,
      totals: this.#result?.footer.totals,
      why: this.#why,
    }
  }

  toResult(): SetTaskResult {
    return { ...this.toManifest(), eval: this.#result }
  }
}
