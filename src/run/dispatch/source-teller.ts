import type { SampleRecord } from '../../log/records/records.ts'
import type { FollowUps, SampleSource } from '../../task/sample-source.ts'
import { untilAborted } from '../../util/abort.ts'
import type { PlannedRun } from './planned-sample.ts'

export interface SourceTellerOptions {
  readonly source: SampleSource | undefined
  /** Aborted when the whole eval ends at once: the source is told nothing more. */
  readonly signal: AbortSignal
  /** Adds what a callback returned. */
  readonly plan: (samples: FollowUps, origin: string) => void
  readonly callbackFailed: (error: unknown, origin: string) => void
  /** Keeps what the source saved while none of its callbacks ran, with the records that it was told of since the last time. */
  readonly keepState: (state: unknown, told: readonly string[]) => void
}

/** Tells a source how runs ended, and adds what it returns. */
export class SourceTeller {
  readonly #options: SourceTellerOptions
  #told: string[] = []
  #running = 0
  /** An operator ends the task: what callbacks return is dropped. */
  isClosing = false

  constructor(options: SourceTellerOptions) {
    this.#options = options
  }

  async complete(record: SampleRecord): Promise<void> {
    await this.#tell(`sampleComplete of sample '${record.id}'`, (source) => {
      if (source.saveState) this.#told.push(record.uuid)
      return source.sampleComplete(record)
    })
  }

  async abandoned({ planned: { added, id }, epoch }: PlannedRun, why: string): Promise<void> {
    await this.#tell(`sampleAbandoned of sample '${id}'`, (source) =>
      source.sampleAbandoned(added, epoch, { id, why }),
    )
  }

  /** Between callbacks the state of a source is whole. */
  async callback<T>(work: () => Promise<T>): Promise<T> {
    this.#running++
    try {
      return await work()
    } finally {
      this.#running--
      if (this.#running === 0) this.#save()
    }
  }

  async #tell(origin: string, call: (source: SampleSource) => Promise<FollowUps>): Promise<void> {
    const { source, signal, plan, callbackFailed } = this.#options
    if (!source || signal.aborted) return
    await this.callback(async () => {
      try {
        const followUps = await untilAborted(call(source), signal)
        if (!signal.aborted && !this.isClosing) plan(followUps, origin)
      } catch (error) {
        if (!signal.aborted) callbackFailed(error, origin)
      }
    })
  }

  #save(): void {
    const { source, signal, keepState, callbackFailed } = this.#options
    if (!source?.saveState || signal.aborted) return
    try {
      keepState(source.saveState(), this.#told)
      this.#told = []
    } catch (error) {
      callbackFailed(error, 'saveState')
    }
  }
}
