import type { ModelCalls } from '../agent/calls/model-calls.ts'
import type { Journal } from '../log/journal/journal.ts'
import type { EvalStatus, FooterRecord, HeaderRecord, SampleRecord } from '../log/records/records.ts'
import type { SandboxManager } from '../sandbox/sandbox-manager.ts'
import type { SecretMask } from '../util/secret-mask.ts'
import type { ConfigGatesOptions } from './config/config-gate.ts'
import type { SandboxWaits } from './dispatch/sandbox-waits.ts'
import type { EvaluateOptions } from './options.ts'
import type { Reuse } from './resume/reuse.ts'

export interface EvalContext {
  readonly run: string
  readonly eval: string
  readonly manager: SandboxManager
  readonly waits: SandboxWaits
  readonly calls: ModelCalls
  readonly providerOf: ConfigGatesOptions['providerOf']
  readonly maxSamples: number
  readonly options: EvaluateOptions
  readonly secrets: SecretMask
}

export interface EvalStart {
  readonly journal: Journal
  readonly header: HeaderRecord
  /** What it takes over from an earlier log. */
  readonly reuse?: Reuse | undefined
  /** Told of every record before the source is. */
  readonly onRecord?: (record: SampleRecord) => Promise<void>
}

/** How one eval ended. */
export interface EvalResult {
  readonly task: string
  readonly eval: string
  readonly status: EvalStatus
  /** Path of the log. */
  readonly log: string
  readonly header: HeaderRecord
  readonly footer: FooterRecord
  /** The log that was to be resumed is complete: nothing was run. */
  readonly wasComplete?: boolean
}
