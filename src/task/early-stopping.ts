import type { SampleRecord } from '../log/records/records.ts'
import type { SampleId } from '../sample/sample-id.ts'

/** A sample as an early stopping manager sees it. */
export interface StoppableSample {
  readonly id: SampleId
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Decides, from what has ended, which runs are not worth starting. Those it halts are abandoned, which the source is told. */
export interface EarlyStopping {
  readonly name: string
  /** Before the first run, with the seed. */
  start?(samples: readonly StoppableSample[], epochs: number): void | Promise<void>
  /** With samples that were added. Required of a manager of a task that is driven by a source. */
  samplesAdded?(samples: readonly StoppableSample[]): void
  /** Just before a run starts. A text halts it, and says why. */
  schedule(id: SampleId, epoch: number): Promise<string | null | undefined>
  /** After a run was logged. */
  sampleComplete?(record: SampleRecord): void | Promise<void>
  /** At the end. What it returns is kept in the log. */
  complete?(): unknown
}

export function isEarlyStopping(value: unknown): value is EarlyStopping {
  return (
    typeof value === 'object' && value !== null && 'schedule' in value && typeof value.schedule === 'function'
  )
}
