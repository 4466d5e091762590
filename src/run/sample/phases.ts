import type { ErrorRecord } from '../../log/records/records.ts'
import { soonAfterAbort } from '../../util/abort.ts'
import { stopwatch } from '../../util/clock.ts'
import type { Phase } from '../run-event.ts'
import type { SampleLife } from './sample-life.ts'

export const KIND_OF_PHASE: Readonly<Record<Phase, ErrorRecord['kind']>> = {
  wait: 'sandbox',
  start: 'sandbox',
  files: 'files',
  setup: 'setup',
  agent: 'agent',
  artifacts: 'artifacts',
  tests: 'tests',
  score: 'scorer',
}

/** How long what was aborted may take to end, such as for the commands of a sandbox to be killed. */
export const END_GRACE_MS = 2000

/** Carries which phase an error came from. */
export class PhaseError extends Error {
  readonly kind: ErrorRecord['kind']

  constructor(kind: ErrorRecord['kind'], cause: unknown) {
    super('phase failed', { cause })
    this.kind = kind
  }
}

export interface PhaseOptions<T> {
  readonly name: Phase
  readonly enter: (phase: Phase) => void
  /** Aborted before the phase: it does not begin; in its midst: it has some moments to end. */
  readonly signal: AbortSignal
  readonly work: () => Promise<T>
}

/** One phase of a sample's life, with its time and the origin of its error. */
export async function runPhase<T>(life: SampleLife, options: PhaseOptions<T>): Promise<T> {
  const { name, enter, signal, work } = options
  const time = stopwatch()
  enter(name)
  try {
    signal.throwIfAborted()
    return await soonAfterAbort(work(), { signal, graceMs: END_GRACE_MS })
  } catch (error) {
    throw new PhaseError(KIND_OF_PHASE[name], error)
  } finally {
    life.spent(name, time())
  }
}
