import type { SampleRecord } from '../../log/records/records.ts'
import type { Sleep } from '../../util/abort.ts'
import type { PlannedRun, PlannedSample, RunOutcome } from './planned-sample.ts'
import type { PriorRun, ReusedRun } from './replay.ts'
import type { SourceTellerOptions } from './source-teller.ts'

export interface DispatcherOptions extends SourceTellerOptions {
  readonly epochs: number
  readonly maxSamples: number
  /** The source is asked when at most so many runs are outstanding (default 0). */
  readonly prefetch?: number
  readonly sleep: Sleep
  /** Whether nothing that a source could return would be run: it is not asked. */
  readonly isSpent?: () => boolean
  /** Takes one attempt through. Rejects only when the log cannot be written. */
  readonly run: (run: PlannedRun) => Promise<RunOutcome>
  /** What an earlier log that is resumed says of one epoch of a sample. */
  readonly prior?: (planned: PlannedSample, epoch: number) => PriorRun | undefined
  /** Takes a run over from that log; a run instead of an outcome is to be run after all. */
  readonly reuse?: (reused: ReusedRun) => Promise<RunOutcome | PlannedRun>
  /** Told of every record, before the source is. */
  readonly recorded?: (record: SampleRecord) => Promise<void> | undefined
  /** A run ended without a record. Returns whether the source is to be told. */
  readonly abandoned: (run: PlannedRun, why: string) => boolean
  /** Ends the whole eval with this error. */
  readonly fail: (error: unknown, origin: string) => void
  readonly warn: (message: string) => void
}
