import { BelljarError, errorMessage } from '../../errors.ts'
import { type EndedTask, enqueueTask, TaskSource } from '../../task/task-source.ts'
import { linkedController } from '../../util/linked-controller.ts'
import type { EvalResult } from '../eval-parts.ts'
import { evaluate, type RunResult } from '../evaluate.ts'
import type { EvaluateOptions } from '../options.ts'
import type { RunEvent } from '../run-event.ts'
import type { EvalSet } from './eval-set.ts'
import { SampleErrors } from './sample-errors.ts'
import type { SetEntry } from './set-entry.ts'

/** One run of what is due of a set. What fails in it is tried again in it as long as others go on; else in the next run. */
export class SetRun {
  readonly #set: EvalSet
  readonly #due: readonly SetEntry[]
  readonly #isFirst: boolean
  readonly #errors = new SampleErrors()
  readonly #ending
  readonly #settled = new Set<string>()
  /** What goes on beside evals: looking after their logs, pauses. */
  readonly #beside: Promise<void>[] = []
  #failure: { readonly error: unknown } | undefined

  constructor(set: EvalSet, due: readonly SetEntry[], isFirst: boolean) {
    this.#set = set
    this.#due = due
    this.#isFirst = isFirst
    this.#ending = linkedController(set.options.signal)
  }

  /** @throws ConfigError and others where the first run of the set cannot be begun */
  async run(): Promise<Pick<RunResult, 'left' | 'kept'>> {
    using _ending = this.#ending
    const result = await evaluate(this.#source(), this.#options())
    this.#ending.abort(new Error('the run has ended'))
    // Of a run that was stopped no source is told.
    for (const ended of result.evals) await this.#ended(ended)
    await Promise.all(this.#beside)
    if (this.#failure) throw this.#failure.error
    this.#set.putBackRunning()
    return result
  }

  /** What is wrong with a task ends a set that has not begun; later it is that task's alone. */
  #source(): TaskSource {
    const taskComplete = async (ended: EndedTask) => {
      this.#beside.push(this.#ended(ended as EvalResult))
    }
    if (this.#isFirst) {
      const initial = this.#due.map((entry) => entry.begin())
      return TaskSource.fromTasks(initial, { taskComplete })
    }
    let due = this.#due
    const nextTasks = async () => {
      const entries = due
      due = []
      await Promise.all(entries.map((entry) => this.#enqueue(entry)))
      return null
    }
    return TaskSource.fromTasks([], { nextTasks, taskComplete })
  }

  #options(): EvaluateOptions {
    const {
      retryAttempts: _a,
      retryWaitMs: _w,
      part: _p,
      allowForeignLogs: _f,
      now: _n,
      ...options
    } = this.#set.options
    return {
      ...options,
      // Each task has its own.
      ...{ model: undefined, models: undefined },
      set: this.#set.folder.set,
      onEvent: (event: RunEvent) => {
        this.#errors.take(event)
        if (event.type === 'run-start') void this.#set.save().catch(() => undefined)
        options.onEvent?.(event)
      },
      onStart: (controls) => {
        const later = this.#set.pending.filter((entry) => !this.#due.includes(entry))
        for (const entry of later) this.#beside.push(this.#again(entry))
        options.onStart?.(controls)
      },
    }
  }

  async #ended(ended: EvalResult): Promise<void> {
    if (this.#settled.has(ended.eval)) return
    this.#settled.add(ended.eval)
    try {
      const { entry, verdict } = (await this.#set.ended(ended, this.#errors)) ?? {}
      if (entry?.isPending && verdict?.kind === 'again' && !verdict.inNewRun) await this.#again(entry)
    } catch (error) {
      this.#failure ??= { error }
    }
  }

  /** In this run, unless it ends before the pause does. */
  async #again(entry: SetEntry): Promise<void> {
    const { signal } = this.#ending
    try {
      await this.#set.pause(Math.max(0, entry.dueAtMs - this.#set.now()), signal)
      signal.throwIfAborted()
    } catch {
      return
    }
    await this.#enqueue(entry)
  }

  async #enqueue(entry: SetEntry): Promise<void> {
    try {
      await this.#set.makeAnew(entry)
      await enqueueTask(entry.begin())
    } catch (error) {
      const isLate = error instanceof BelljarError && error.code === 'run-ended'
      if (isLate) entry.putBack()
      else entry.failed(errorMessage(error))
    }
  }
}
