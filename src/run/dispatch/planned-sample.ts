import type { EarlierAttempt, SampleRecord } from '../../log/records/records.ts'
import type { Sample } from '../../sample/sample.ts'
import type { SampleId } from '../../sample/sample-id.ts'
import type { Gate } from '../config/config-gate.ts'
import type { Completion } from './completion.ts'
import { RunControl } from './run-control.ts'

/** A sample that has its id and its place in the plan. */
export interface PlannedSample {
  readonly id: SampleId
  /** Position in the plan, from 0: what results are ordered by. */
  readonly index: number
  readonly sample: Sample
  /** The object as it was added, which a source may recognise. */
  readonly added: Sample
  readonly gate: Gate
  readonly completion?: Completion
}

/** One epoch of a planned sample, through all its attempts. */
export class PlannedRun {
  readonly planned: PlannedSample
  readonly epoch: number
  readonly control = new RunControl()
  readonly earlier: EarlierAttempt[]
  /** The outcome that this run takes the place of. */
  readonly superseded: SampleRecord | undefined
  /** How many of the earlier attempts were those of another eval, and count for no limit of this one. */
  foreignAttempts = 0
  /** Resolves when the source has been told how the run ended; the one that takes its place is told of after that. */
  told: Promise<void> | undefined

  constructor(planned: PlannedSample, epoch: number, superseded?: SampleRecord) {
    this.planned = planned
    this.epoch = epoch
    this.superseded = superseded
    this.earlier = superseded ? earlierOf(superseded) : []
    if (planned.gate.state === 'pending') this.control.does('prepare')
  }

  /** A run that failed in an eval that this one resumes. */
  static again(planned: PlannedSample, epoch: number, superseded: SampleRecord): PlannedRun {
    const run = new PlannedRun(planned, epoch, superseded)
    run.foreignAttempts = run.earlier.length
    return run
  }

  /** A run of a sample that an earlier eval has another sample's record of. */
  static insteadOf(planned: PlannedSample, epoch: number, superseded: SampleRecord): PlannedRun {
    const run = new PlannedRun(planned, epoch, superseded)
    run.earlier.length = 0
    return run
  }

  get attempt(): number {
    return this.earlier.length + 1
  }

  get key(): string {
    return runKey(this.planned.id, this.epoch)
  }

  get name(): string {
    return `sample '${this.planned.id}' (epoch ${this.epoch})`
  }
}

export function runKey(id: SampleId, epoch: number): string {
  return `${epoch} ${id}`
}

function earlierOf({ earlier = [], uuid, attempt, error }: SampleRecord): EarlierAttempt[] {
  const last = error ?? { kind: 'operator' as const, code: 'cancelled', message: 'cancelled' }
  return [...earlier, { uuid, attempt, error: last }]
}

/** Samples by the configuration that they wait for. */
export function byGate(samples: readonly PlannedSample[]): Map<Gate, PlannedSample[]> {
  const groups = new Map<Gate, PlannedSample[]>()
  for (const planned of samples) {
    const group = groups.get(planned.gate)
    if (group) group.push(planned)
    else groups.set(planned.gate, [planned])
  }
  return groups
}

/** What became of one attempt. */
export type RunOutcome =
  /** The record is in the log. `isTold`: the source knows of it. */
  | { readonly kind: 'record'; readonly record: SampleRecord; readonly isTold?: boolean }
  /** It failed and is to be tried again; it has been added to `earlier`. */
  | { readonly kind: 'retry' }
  | { readonly kind: 'abandoned'; readonly why: string }
