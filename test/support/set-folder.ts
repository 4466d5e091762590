import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FakeProvider } from 'belljar/testing'
import type { RunEvent } from '../../src/run/run-event.ts'
import { evaluateSet } from '../../src/run/set/evaluate-set.ts'
import type { SetManifest } from '../../src/run/set/folder/set-manifest.ts'
import type { SetEvent } from '../../src/run/set/set-event.ts'
import type { SetOptions, SetResult, SetTasks } from '../../src/run/set/set-options.ts'
import type { TaskDefinition } from '../../src/task/task.ts'
import { fakeTask, sample } from './fake-run.ts'
import { countingAgent } from './resume.ts'
import { tempDir } from './temp-dir.ts'

export const two = [sample('a', { id: 'a' }), sample('b', { id: 'b' })]

/** A task whose sample b fails so often before it passes, and the ids of the samples that its agent was called with. */
export function flaky(name: string, failures: number, more: Partial<TaskDefinition> = {}) {
  const { agent, calls } = countingAgent((id, time) => id === 'b' && time <= failures)
  return { calls, task: fakeTask({ name, dataset: two, agent, failOnError: false, ...more }) }
}

export interface SetRun {
  readonly result: SetResult
  readonly events: readonly (RunEvent | SetEvent)[]
  /** Pauses that were asked for, in milliseconds; none of them lasted. */
  readonly pauses: readonly number[]
  readonly states: Readonly<Record<string, string>>
}

/** A folder in which sets are run, with sandboxes in memory and a clock that does not wait. */
export class SetRuns implements AsyncDisposable {
  readonly #folder: AsyncDisposable & { path: string }

  private constructor(folder: AsyncDisposable & { path: string }) {
    this.#folder = folder
  }

  static async make(): Promise<SetRuns> {
    return new SetRuns(await tempDir())
  }

  get path(): string {
    return this.#folder.path
  }

  async run(
    tasks: SetTasks,
    options: Partial<SetOptions> & { readonly onPause?: (ms: number) => void } = {},
  ): Promise<SetRun> {
    const { onPause, onEvent, ...rest } = options
    const events: (RunEvent | SetEvent)[] = []
    const result = await evaluateSet(tasks, {
      logDir: this.path,
      providers: { fake: async () => new FakeProvider() },
      ...clockThatJumps(),
      ...rest,
      onEvent: (event) => {
        events.push(event)
        if (event.type === 'set-again') onPause?.(event.pauseMs)
        onEvent?.(event)
      },
    })
    const pauses = events.flatMap((event) => (event.type === 'set-again' ? [event.pauseMs] : []))
    const states = Object.fromEntries(result.tasks.map(({ id, state }) => [id, state]))
    return { result, events, pauses, states }
  }

  async logs(): Promise<string[]> {
    return (await readdir(this.path)).filter((name) => !name.startsWith('belljar-set')).sort()
  }

  files(): Promise<string[]> {
    return readdir(this.path)
  }

  async manifest(name = 'belljar-set.json'): Promise<SetManifest> {
    return JSON.parse(await readFile(join(this.path, name), 'utf8')) as SetManifest
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]()
  }
}

/** A clock that is further on as soon as somebody waits. */
function clockThatJumps(): Required<Pick<SetOptions, 'now' | 'sleep'>> {
  let nowMs = 0
  return {
    now: () => nowMs,
    sleep: async (ms, signal) => {
      await new Promise(setImmediate)
      signal?.throwIfAborted()
      nowMs += ms
    },
  }
}
