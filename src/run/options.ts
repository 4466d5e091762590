import type { Model } from '../agent/model.ts'
import type { SandboxSpec } from '../sample/sandbox-spec.ts'
import type { SandboxProvider } from '../sandbox/provider.ts'
import type { Sleep } from '../util/abort.ts'
import type { RunEvent } from './run-event.ts'

export interface EvaluateOptions {
  /** Folder of the logs (default `logs`); made when absent. */
  readonly logDir?: string
  readonly model?: Model
  /** Takes the place of the tasks' own sandbox. */
  readonly sandbox?: SandboxSpec
  readonly epochs?: number
  /** Samples at once, per task. */
  readonly maxSamples?: number
  /** Sandboxes at once in the run, per kind (default: twice the processors). */
  readonly maxSandboxes?: number
  /** Tasks at once (default 10). */
  readonly maxTasks?: number
  readonly failOnError?: boolean
  /** Aborting it cancels the run: what is finished is kept, everything is removed. */
  readonly signal?: AbortSignal
  readonly onEvent?: (event: RunEvent) => void
  /** How sandboxes of each kind are made; default: `docker`. */
  readonly providers?: Readonly<Record<string, () => Promise<SandboxProvider>>>
  readonly sleep?: Sleep
}
