import { type LogRecord, readLog, type Sample, type SampleRecord } from 'belljar'
import { FakeProvider } from 'belljar/testing'
import { evaluate, type RunResult } from '../../src/run/evaluate.ts'
import type { EvaluateOptions } from '../../src/run/options.ts'
import type { RunEvent } from '../../src/run/run-event.ts'
import { defineTask, type Task, type TaskDefinition } from '../../src/task/task.ts'
import type { TaskSource } from '../../src/task/task-source.ts'
import { tempDir } from './temp-dir.ts'

export interface FakeRun {
  readonly result: RunResult
  readonly provider: FakeProvider
  readonly events: readonly RunEvent[]
  /** Of all evals, in the order in which they ended. */
  readonly records: readonly SampleRecord[]
  /** Of the first eval's log. */
  readonly log: readonly LogRecord[]
}

/** Runs tasks with sandboxes in memory, and gives back all that a test may want to look at. */
export async function fakeRun(
  tasks: Task | TaskSource | readonly Task[],
  options: EvaluateOptions & { provider?: FakeProvider } = {},
): Promise<FakeRun> {
  await using directory = await tempDir()
  const { provider = new FakeProvider(), onEvent, ...rest } = options
  const events: RunEvent[] = []
  const told = (event: RunEvent) => {
    events.push(event)
    onEvent?.(event)
  }
  const result = await evaluate(tasks, {
    logDir: directory.path,
    providers: { fake: async () => provider },
    ...rest,
    onEvent: told,
  })
  const records = events.flatMap((event) => (event.type === 'sample-end' ? [event.record] : []))
  const log: LogRecord[] = []
  for await (const record of readLog(result.evals[0]!.log)) log.push(record)
  return { result, provider, events, records, log }
}

/** A task with a fake sandbox and an agent that does nothing, unless told otherwise. */
export function fakeTask(definition: Partial<TaskDefinition> & Pick<TaskDefinition, 'dataset'>): Task {
  return defineTask({ name: 'fake-task', agent: 'nop', sandbox: 'fake', ...definition })
}

/** A promise and what settles it. */
export function deferred<T = void>(): {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: unknown) => void
} {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((one, other) => {
    resolve = one
    reject = other
  })
  return { promise, resolve, reject }
}

export const ids = (records: readonly SampleRecord[]) => records.map(({ id }) => id)
export const inputs = (records: readonly SampleRecord[]) => records.map(({ input }) => input)
export const sample = (input: string, more: Partial<Sample> = {}): Sample => ({ input, ...more })
export const status = (run: FakeRun) => run.result.evals[0]?.status
