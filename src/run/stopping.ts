import type { SampleRecord } from '../log/records.ts'
import type { EarlyStopping, StoppableSample } from '../task/early-stopping.ts'
import type { PlannedRun, PlannedSample } from './dispatch/planned-sample.ts'
import type { ResolvedTask } from './resolved-task.ts'

/** Asks a task's early stopping manager, if there is one. */
export class Stopping {
  readonly #manager: EarlyStopping | undefined

  constructor(manager: EarlyStopping | undefined) {
    this.#manager = manager
  }

  async start({ seed, epochs }: ResolvedTask): Promise<void> {
    await this.#manager?.start?.(seed.map(stoppable), epochs)
  }

  added(samples: readonly PlannedSample[]): void {
    this.#manager?.samplesAdded?.(samples.map(stoppable))
  }

  /** Why a run is not started; undefined lets it. */
  async halts({ planned, epoch }: PlannedRun): Promise<string | undefined> {
    const why = await this.#manager?.schedule(planned.id, epoch)
    return why ? `stopped early by ${this.#manager?.name}: ${why}` : undefined
  }

  async logged(record: SampleRecord): Promise<void> {
    await this.#manager?.sampleComplete?.(record)
  }

  summary(): unknown {
    return this.#manager?.complete?.()
  }
}

function stoppable({ id, sample }: Pick<PlannedSample, 'id' | 'sample'>): StoppableSample {
  return { id, metadata: sample.metadata ?? {} }
}
