import type { Agent } from '../agent/agent.ts'
import type { ResponseCacheOptions } from '../agent/calls/response-cache.ts'
import type { GenerateConfig, Model } from '../agent/model.ts'
import type { Prices, SampleLimits } from '../limit/budget.ts'
import type { FsyncPolicy } from '../log/journal/journal.ts'
import type { SandboxSpec } from '../sample/sandbox-spec.ts'
import type { Keep, SandboxProvider } from '../sandbox/provider.ts'
import type { Secret } from '../task/secrets.ts'
import type { Sleep } from '../util/abort.ts'
import type { RunControls } from './control/eval-control.ts'
import type { FailOnError } from './error-policy.ts'
import type { RunEvent } from './run-event.ts'
import type { ServiceLogs } from './sample/service-logs.ts'

export interface EvaluateOptions {
  /** Folder of the logs (default `logs`); made when absent. */
  readonly logDir?: string
  /** When the log is forced to the disk; default 'records': whenever a sample has ended. */
  readonly fsync?: FsyncPolicy
  /** A model, or the name of one for `loadModel`. */
  readonly model?: Model | string
  /** Instead of `model`: every task is run with each of them, one eval for each. */
  readonly models?: readonly (Model | string)[]
  /** Where a model that is given by name is reached. */
  readonly modelBaseUrl?: string
  /** What a model that is given by name is made with. */
  readonly modelArgs?: Readonly<Record<string, unknown>>
  /** By role, such as `grader`. */
  readonly modelRoles?: Readonly<Record<string, Model | string>>
  /** Settings of model calls; each takes the place of the task's. */
  readonly config?: GenerateConfig
  /** Calls of each model at once; left out: as many as the provider bears, found out as it goes. */
  readonly maxConnections?: number
  /** Answers of models are kept and used again (default: not). */
  readonly cache?: ResponseCacheOptions
  /** Takes the place of the tasks' own agent: a function, or the name of a built-in one, such as `oracle` to try the solutions. */
  readonly agent?: Agent | string
  /** Takes the place of the tasks' own sandbox. */
  readonly sandbox?: SandboxSpec
  /** Path of a log, finished or not, of the one task: what has ended there is not run again, and its log goes into the new one. */
  readonly resume?: string
  /** Id of the set that the logs are part of. */
  readonly set?: string
  /** Of what a resumed log does not have: only samples whose sandbox failed, or whose ids match a pattern. */
  readonly only?: 'infra' | readonly string[]
  readonly epochs?: number
  /** Samples at once, per task. */
  readonly maxSamples?: number
  /** Sandboxes at once in the run, per kind (default: twice the processors). */
  readonly maxSandboxes?: number
  /** Docker sandboxes that are being started at once (default: twice the engine's processors). One that only waits to become healthy does not count. */
  readonly maxStarts?: number
  /** Short calls sent to the Docker engine at once, those that look and those that change something each (default: eight for each processor, at least 16). */
  readonly maxEngineCalls?: number
  /** Tasks at once (default 10). */
  readonly maxTasks?: number
  /** So many samples of each task, added ones among them, or those at positions from the first number up to the second. */
  readonly limit?: number | readonly [number, number]
  /** Patterns of ids, or of `task:id`, of the samples to run. */
  readonly sampleIds?: readonly string[]
  readonly failOnError?: FailOnError
  readonly continueOnFail?: boolean
  readonly retryOnError?: number
  readonly retryInfra?: number
  readonly scoreOnError?: boolean
  /** Take the place of the task's own, one by one. */
  readonly limits?: SampleLimits
  /** By name of the model; what a cost limit counts with. */
  readonly prices?: Prices
  /** Told once everything is prepared, before the first sample: what acts on the run while it goes on. */
  readonly onStart?: (control: RunControls) => void
  /** Which sandboxes outlive the run: those of samples that ended with an error, or all (default `none`). */
  readonly keep?: Keep
  /** false: no process stays behind a killed run to remove what it leaves; the next run does (default true). */
  readonly reaper?: boolean
  /** Aborting it cancels the run: what is finished is kept, everything is removed. */
  readonly signal?: AbortSignal
  readonly onEvent?: (event: RunEvent) => void
  /** How sandboxes of each kind are made; default: `docker`. */
  readonly providers?: Readonly<Record<string, () => Promise<SandboxProvider>>>
  readonly sleep?: Sleep
  /** Refuses to run where images would have to be built. */
  readonly noBuild?: boolean
  /** Whose artifacts are kept beside the log: those of all samples (default), of those that ended with an error, or of none. */
  readonly keepArtifacts?: 'none' | 'failed' | 'all'
  /** Whose service logs are kept beside the log: those of samples that ended with an error (default), or all. */
  readonly serviceLogs?: ServiceLogs
  /** Removes each image that the run has pulled or built after its last use; those that were there before stay. */
  readonly removeImages?: boolean
  /** `engine`: Docker sandboxes are reached through the Engine's own exec, without a guest (default `guest`, where it can run). */
  readonly transport?: 'guest' | 'engine'
  /** Cap of each output stream of a command that names none (default 10 MiB). */
  readonly maxOutputBytes?: number
  /** The largest file that is read where a call names no limit (default 100 MiB). */
  readonly maxReadBytes?: number
  /**
   * What no log, event or label may show, beside what the tasks declare, what variables hold whose names end as those of keys,
   * tokens and passwords do, and the secrets of compose files.
   */
  readonly secrets?: readonly Secret[]
}
