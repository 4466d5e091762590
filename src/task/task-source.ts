import { AsyncLocalStorage } from 'node:async_hooks'
import { BelljarError } from '../errors.ts'
import type { FooterRecord, HeaderRecord, SampleRecord } from '../log/records/records.ts'
import type { LoadedTask } from './load-tasks.ts'
import type { Task } from './task.ts'

/** The log of one eval that has ended, as far as it fits into memory whatever its length. */
export interface EndedTask {
  readonly task: string
  readonly eval: string
  /** Path of the log. */
  readonly log: string
  readonly header: HeaderRecord
  readonly footer: FooterRecord
}

export type AddedTasks = readonly (Task | LoadedTask)[] | null | undefined | void

export interface NextTasksContext {
  /** Aborted when the run is cancelled. */
  readonly signal: AbortSignal
}

/** Produces the tasks of a run while it goes on, and is told how their samples and they themselves ended. */
export class TaskSource {
  /** Called once; may be empty. */
  initialTasks(): readonly (Task | LoadedTask)[] {
    return []
  }

  /** Asked when no task is under way. May block. null or `[]`: no more. */
  async nextTasks(_context: NextTasksContext): Promise<readonly (Task | LoadedTask)[] | null> {
    return null
  }

  /** Told of every record of every task, after it was logged. */
  async sampleComplete(_record: SampleRecord, _task: string): Promise<AddedTasks> {
    return null
  }

  async taskComplete(_ended: EndedTask): Promise<AddedTasks> {
    return null
  }

  static fromTasks(initial: readonly (Task | LoadedTask)[], callbacks: TaskSourceCallbacks = {}): TaskSource {
    return Object.assign(new TaskSource(), { initialTasks: () => initial }, callbacks)
  }
}

export type TaskSourceCallbacks = Partial<Pick<TaskSource, 'nextTasks' | 'sampleComplete' | 'taskComplete'>>

/** Adds tasks to the run whose code calls it. */
export type AddTasks = (tasks: readonly (Task | LoadedTask)[]) => Promise<void>

const running = new AsyncLocalStorage<AddTasks>()

/** Runs code, and all that it starts, inside a run. */
export function insideRun<T>(add: AddTasks, code: () => T): T {
  return running.run(add, code)
}

/**
 * Adds tasks to the run whose code calls it; they start as `maxTasks` allows. Resolves when they have been checked and have their logs.
 * @throws BelljarError outside a run or after its end; ConfigError for a task that cannot be run
 */
export async function enqueueTask(tasks: Task | LoadedTask | readonly (Task | LoadedTask)[]): Promise<void> {
  const add = running.getStore()
  if (!add) throw new BelljarError('not-in-a-run', 'enqueueTask() can only be called by code of a run')
  await add([tasks].flat())
}
