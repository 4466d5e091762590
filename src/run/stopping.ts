import type { SampleRecord } from '../log/records/records.ts'
import type { EarlyStopping, StoppableSample } from '../task/early-stopping.ts'
import { untilAborted } from '../util/abort.ts'
import type { PlannedRun, PlannedSample } from './dispatch/planned-sample.ts'
import type { ResolvedTask } from './resolved-task.ts'

/** Asks a task's early stopping manager, if there is one. */
export class Stopping {
  readonly #manager: EarlyStopping | undefined

  /** Nobody waits for an answer any more once this is aborted. */
  readonly #ending: AbortSignal

  constructor(manager: EarlyStopping | undefined, ending: AbortSignal) {
    this.#manager = manager
    this.#ending = ending
  }

  async start({ seed, epochs }: ResolvedTask): Promise<void> {
    await this.#answer(this.#manager?.start?.(seed.map(stoppable), epochs))
  }

  added(samples: readonly PlannedSample[]): void {
    this.#manager?.samplesAdded?.(samples.map(stoppable))
  }

  /** Why a run is not started; undefined lets it. */
  async halts({ planned, epoch }: PlannedRun): Promise<string | undefined> {
    const why = await this.#answer(this.#manager?.schedule(planned.id, epoch))
    return why ? `stopped early by ${this.#manager?.name}: ${why}` : undefined
  }

  async logged(record: SampleRecord): Promise<void> {
    await this.#answer(this.#manager?.sampleComplete?.(record))
  }

  async #answer<T>(asked: T | Promise<T>): Promise<T | undefined> {
    try {
      return await untilAborted(Promise.resolve(asked), this.#ending)
    } catch (error) {
      if (this.#ending.aborted) return undefined
      throw error
    }
  }

  summary(): unknown {
    return this.#manager?.complete?.()
  }
}

function stoppable({ id, sample }: Pick<PlannedSample, 'id' | 'sample'>): StoppableSample {
  return { id, metadata: sample.metadata ?? {} }
}
