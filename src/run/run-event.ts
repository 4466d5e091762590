import type { EvalStatus, FooterRecord, HeaderRecord, SampleRecord } from '../log/records/records.ts'
import type { SampleId } from '../sample/sample-id.ts'

/** What a run tells while it goes on: for progress, `--json` and tests. `eval` tells evals of one task apart, such as those with different models. */
export type RunEvent =
  | {
      readonly type: 'run-start'
      readonly run: string
      readonly tasks: readonly string[]
      readonly maxSandboxes: number
    }
  /** About the run as a whole, not one of its tasks. */
  | { readonly type: 'run-note'; readonly level: 'info' | 'warning'; readonly message: string }
  | {
      readonly type: 'eval-start'
      readonly task: string
      readonly eval: string
      readonly log: string
      readonly header: HeaderRecord
    }
  | { readonly type: 'samples-added'; readonly task: string; readonly eval: string; readonly total: number }
  /** A configuration begins to be made ready. */
  | {
      readonly type: 'config-begin'
      readonly task: string
      readonly eval: string
      readonly description: string
    }
  | {
      readonly type: 'config-ready'
      readonly task: string
      readonly eval: string
      readonly description: string
      readonly durationMs: number
    }
  | {
      readonly type: 'config-failed'
      readonly task: string
      readonly eval: string
      readonly description: string
      readonly message: string
    }
  | {
      readonly type: 'sample-phase'
      readonly task: string
      readonly eval: string
      readonly id: SampleId
      readonly epoch: number
      readonly phase: Phase
    }
  | {
      readonly type: 'sample-end'
      readonly task: string
      readonly eval: string
      readonly record: SampleRecord
    }
  /** It had ended in the log that is resumed, and was not run. */
  | {
      readonly type: 'sample-reused'
      readonly task: string
      readonly eval: string
      readonly record: SampleRecord
    }
  /** A run ended without a record. */
  | {
      readonly type: 'sample-abandoned'
      readonly task: string
      readonly eval: string
      readonly id: SampleId
      readonly epoch: number
      readonly why: string
    }
  | {
      readonly type: 'note'
      readonly task: string
      readonly eval: string
      readonly level: 'info' | 'warning' | 'error'
      readonly message: string
    }
  | {
      readonly type: 'eval-end'
      readonly task: string
      readonly eval: string
      readonly status: EvalStatus
      readonly log: string
      readonly footer: FooterRecord
    }

/** Parts of a sample's life, in order; `wait` is for a sandbox slot. A verifier's sandbox is waited for and started after `artifacts`. */
export type Phase = 'wait' | 'start' | 'files' | 'setup' | 'agent' | 'artifacts' | 'tests' | 'score'
