import { ConfigError } from '../../errors.ts'
import type { KeptSandbox, LeftObject } from '../../sandbox/provider.ts'
import type { LoadedTask } from '../../task/load-tasks.ts'
import { SampleSource } from '../../task/sample-source.ts'
import type { Task } from '../../task/task.ts'
import type { EvalResult } from '../eval-parts.ts'
import type { EvaluateOptions } from '../options.ts'
import type { RunEvent } from '../run-event.ts'
import type { ManifestTask } from './folder/set-manifest.ts'
import { checkPart, type SetPart } from './plan/set-part.ts'
import type { SetEvent } from './set-event.ts'

type GivenTasks = Task | LoadedTask | readonly (Task | LoadedTask)[]

/** A function is called for each attempt, so that each has tasks that nothing has happened to. */
export type SetTasks = GivenTasks | (() => GivenTasks | Promise<GivenTasks>)

export interface SetOptions extends Omit<EvaluateOptions, 'resume' | 'only' | 'set' | 'logDir' | 'onEvent'> {
  /** Folder of the set's logs and its manifest; made when absent. */
  readonly logDir: string
  /** Further attempts at a task that is not complete (default 10). */
  readonly retryAttempts?: number
  /** The pause before the first of them (default 30,000 ms); doubled each time, an hour at most. */
  readonly retryWaitMs?: number
  /** Only a part of the set. */
  readonly part?: SetPart
  /** Logs in the folder that are of no task of the set are left alone (default: an error). */
  readonly allowForeignLogs?: boolean
  readonly onEvent?: (event: RunEvent | SetEvent) => void
  /** The clock that pauses go by, in milliseconds. */
  readonly now?: () => number
}

/** What became of one eval of a set. */
export interface SetTaskResult extends ManifestTask {
  /** Its last attempt; undefined: it was not begun. */
  readonly eval: EvalResult | undefined
}

export interface SetResult {
  readonly set: string
  /** Whether every task has a complete log. */
  readonly isComplete: boolean
  readonly tasks: readonly SetTaskResult[]
  /** What could not be removed, of all attempts. */
  readonly left: readonly LeftObject[]
  readonly kept: readonly KeptSandbox[]
}

export const RETRY_ATTEMPTS = 10
export const RETRY_WAIT_MS = 30_000

/** @throws ConfigError */
export function checkSetOptions({ logDir, retryAttempts = 0, retryWaitMs = 0, part }: SetOptions): void {
  if (typeof logDir !== 'string' || logDir === '')
    throw new ConfigError('a set needs a folder for its logs', { where: 'logDir' })
  for (const [name, value] of Object.entries({ retryAttempts, retryWaitMs }))
    if (!Number.isInteger(value) || value < 0)
      throw new ConfigError(`expected a whole number, got ${value}`, { where: name })
  if (part) checkPart(part)
}

/** Nobody can bring a source back to its beginning. @throws ConfigError */
export function checkSources(tasks: GivenTasks): void {
  for (const given of [tasks].flat()) {
    const { definition } = 'task' in given ? given.task : given
    if (definition.dataset instanceof SampleSource)
      throw new ConfigError(
        'a set may try it again, and its SampleSource would not be at its beginning; give the task a function that makes a source (dataset: () => new MySource()), or the set a function that makes its tasks',
        { where: `task '${given.name ?? 'without a name'}'` },
      )
  }
}

/** @throws ConfigError for a source that has driven an attempt already */
export function checkAnew(before: LoadedTask, now: LoadedTask): void {
  const { dataset } = now.task.definition
  if (!(dataset instanceof SampleSource) || dataset !== before.task.definition.dataset) return
  throw new ConfigError(
    'it cannot be tried again in this process: the function that makes it gave the same SampleSource as before (loadTasks has the option `fresh`)',
    { where: `task '${now.name}'` },
  )
}
