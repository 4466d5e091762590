import { AsyncLocalStorage } from 'node:async_hooks'
import { BelljarError } from '../errors.ts'
import type { SampleRecord } from '../log/records/records.ts'
import type { Sample } from '../sample/sample.ts'

/** A sample that was added to the running task. */
export interface EnqueuedSample {
  readonly id: string | number
  /** One record per epoch, in epoch order. @throws SampleNotCompletedError with the records there are */
  completed(): Promise<SampleRecord[]>
}

/** What the code of a running task can reach of it. */
export interface TaskScope {
  readonly task: string
  /** Absolute folder that relative paths of the task start at. */
  readonly directory: string
  /** undefined where the data set is fixed. */
  readonly enqueue: ((samples: readonly Sample[]) => EnqueuedSample[]) | undefined
  /** Inside a sample: gives its slot up while it waits for another one. */
  readonly whileWaiting?: <T>(wait: () => Promise<T>, forWhat: string) => Promise<T>
}

const scope = new AsyncLocalStorage<TaskScope>()

/** Runs code, and all that it starts, inside a task. */
export function insideTask<T>(task: TaskScope, code: () => T): T {
  return scope.run(task, code)
}

/** The task whose code calls; undefined outside. */
export function currentTask(): Pick<TaskScope, 'task' | 'directory'> | undefined {
  return scope.getStore()
}

/** Waits for what became of an added sample; the slot of the sample that waits is free meanwhile. */
export function waitFor<T>(id: string | number, wait: () => Promise<T>): Promise<T> {
  const yielding = scope.getStore()?.whileWaiting
  return yielding ? yielding(wait, String(id)) : wait()
}

/**
 * Adds samples to the task whose code calls it: from an agent, a tool, a scorer, a source's callback, and from timers and streams that these started.
 * @throws BelljarError outside a task driven by a SampleSource; ConfigError for an invalid sample; DuplicateSampleError
 */
export function enqueueSample(samples: Sample | readonly Sample[]): EnqueuedSample[] {
  const task = scope.getStore()
  if (!task) {
    throw new BelljarError(
      'not-in-a-task',
      'enqueueSample() can only be called by code of a running task whose dataset is a SampleSource',
    )
  }
  if (!task.enqueue) {
    throw new BelljarError(
      'not-a-source',
      `enqueueSample(): the dataset of task '${task.task}' is fixed; give the task a SampleSource to add samples while it runs`,
    )
  }
  return task.enqueue(Array.isArray(samples) ? samples : [samples as Sample])
}
