import { join } from 'node:path'
import { errorMessage } from '../errors.ts'
import type { Journal } from '../log/journal/journal.ts'
import { errorRecord } from '../log/records/error-record.ts'
import type { FooterRecord, LogRecord, SampleRecord } from '../log/records/records.ts'
import { folderBeside, ownerName } from '../log/write/beside-log.ts'
import { serviceLogFolder, writeServiceLogs } from '../log/write/service-logs.ts'
import type { SampleId } from '../sample/sample-id.ts'
import type { ResolvedConfig, ServiceLog } from '../sandbox/provider.ts'
import type { SecretMask } from '../util/secret-mask.ts'
import type { GateOutcome } from './config/config-gate.ts'
import { configRecord } from './config/config-record.ts'
import type { PlannedRun } from './dispatch/planned-sample.ts'
import type { EvalContext } from './eval-parts.ts'
import type { RunEvent } from './run-event.ts'

type Level = 'info' | 'warning' | 'error'

/** Writes what happens in one eval into its log, and tells whoever listens. */
export class EvalJournal {
  /** Names it in events. */
  readonly #about: { readonly task: string; readonly eval: string }
  readonly #onEvent: (event: RunEvent) => void
  readonly #secrets: SecretMask
  #journal: Journal | undefined
  #hasServiceLogs = false

  constructor(
    task: string,
    { eval: evalId, options, secrets }: Pick<EvalContext, 'eval' | 'options' | 'secrets'>,
  ) {
    this.#about = { task, eval: evalId }
    this.#onEvent = options.onEvent ?? (() => undefined)
    this.#secrets = secrets
  }

  open(journal: Journal): void {
    this.#journal = journal
  }

  event(event: RunEvent): void {
    this.#onEvent(event)
  }

  keep(record: LogRecord): void {
    this.#journal?.note(record)
  }

  /** Resolves when it is in the file. */
  async append(record: SampleRecord | LogRecord): Promise<void> {
    await this.#journal?.append(record)
  }

  note(level: Level, message: string, about: { sample?: SampleId; epoch?: number } = {}): void {
    this.keep({ type: 'note', at: new Date().toISOString(), level, message, ...about })
    this.event({ type: 'note', ...this.#about, level, message })
  }

  state(state: unknown, told: readonly string[]): void {
    this.keep({ type: 'source-state', at: new Date().toISOString(), state, told: [...told] })
  }

  preparing({ description }: ResolvedConfig): void {
    this.event({ type: 'config-begin', ...this.#about, description })
  }

  config(outcome: GateOutcome): void {
    const record = configRecord(outcome)
    this.keep(record)
    const { description, durationMs, error } = record
    const common = { ...this.#about, description }
    if (error) this.event({ type: 'config-failed', ...common, message: error.message })
    else this.event({ type: 'config-ready', ...common, durationMs })
  }

  planned(total: number): void {
    this.event({ type: 'samples-added', ...this.#about, total })
  }

  reused(record: SampleRecord): void {
    this.event({ type: 'sample-reused', ...this.#about, record })
  }

  retried({ planned, epoch, earlier }: PlannedRun): void {
    const { attempt, error } = earlier.at(-1) ?? {}
    const message = `attempt ${attempt} failed and is followed by another: ${error?.message}`
    this.note('warning', message, { sample: planned.id, epoch })
  }

  /** Keeps what the services of a sandbox have printed beside the log. Never rejects. */
  async serviceLogs(run: PlannedRun, logs: readonly ServiceLog[]): Promise<void> {
    const { planned, epoch, attempt } = run
    if (!this.#journal || logs.length === 0) return
    const folder = serviceLogFolder(this.#journal.path)
    try {
      await writeServiceLogs(
        folder,
        this.#secrets.value({ sample: String(planned.id), epoch, attempt }),
        this.#secrets.value(logs),
      )
      if (!this.#hasServiceLogs) this.note('info', `service logs are kept in ${folder}`)
      this.#hasServiceLogs = true
    } catch (error) {
      const message = `the service logs could not be kept: ${errorMessage(error)}`
      this.note('warning', message, { sample: planned.id, epoch })
    }
  }

  /** Where the artifacts of a run are kept, beside the log. */
  artifactFolder({ planned, epoch, attempt }: PlannedRun): string | undefined {
    if (!this.#journal) return undefined
    const owner = this.#secrets.value({ sample: String(planned.id), epoch, attempt })
    return join(folderBeside(this.#journal.path, 'artifacts'), ownerName(owner))
  }

  abandoned({ planned: { id }, epoch }: PlannedRun, why: string): void {
    this.note('info', `abandoned: ${why}`, { sample: id, epoch })
    this.event({ type: 'sample-abandoned', ...this.#about, id, epoch, why })
  }

  /** Returns the footer as it is known in the end: a log that cannot be finished is an error. */
  async finish(footer: FooterRecord): Promise<FooterRecord> {
    try {
      await this.append(footer)
      await this.#journal?.close()
      return footer
    } catch (error) {
      return { ...footer, status: 'error', error: footer.error ?? errorRecord('log', error) }
    }
  }
}
