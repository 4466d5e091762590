import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FakeProvider } from 'belljar/testing'
import type { RunEvent } from '../../src/run/run-event.ts'
import { evaluateSet } from '../../src/run/set/evaluate-set.ts'
import type { SetEvent } from '../../src/run/set/set-event.ts'
import type { SetManifest } from '../../src/run/set/set-manifest.ts'
import type { SetOptions, SetResult, SetTasks } from '../../src/run/set/set-options.ts'
import { tempDir } from './temp-dir.ts'

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
      sleep: async (_ms, signal) => signal?.throwIfAborted(),
      ...rest,
      onEvent: (event) => {
        events.push(event)
        if (event.type === 'set-pause') onPause?.(event.ms)
        onEvent?.(event)
      },
    })
    const pauses = events.flatMap((event) => (event.type === 'set-pause' ? [event.ms] : []))
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
