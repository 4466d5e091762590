import { setMaxListeners } from 'node:events'
import { BelljarError } from '../errors.ts'
import { Limiter } from '../limit/limiter.ts'
import type { SampleRecord } from '../log/records/records.ts'
import type { LeftObject } from '../sandbox/provider.ts'
import type { LoadedTask } from '../task/load-tasks.ts'
import type { Task } from '../task/task.ts'
import { type AddedTasks, insideRun, TaskSource } from '../task/task-source.ts'
import { untilAborted } from '../util/abort.ts'
import { Wake } from '../util/wake.ts'
import type { EvalControl, RunControls } from './control/eval-control.ts'
import type { EvalResult } from './eval-parts.ts'
import type { EvalPreparation, PreparedEval } from './eval-preparation.ts'
import type { EvaluateOptions } from './options.ts'

export interface TaskDispatcherOptions {
  readonly run: string
  readonly source: TaskSource
  readonly preparation: EvalPreparation
  readonly connections: RunControls['connections']
  readonly maxTasks: number
  /** What the run would leave if it ended now. */
  readonly left: () => readonly LeftObject[]
  readonly options: EvaluateOptions
}

/** Runs evals, so many at once, tells the source of tasks what became of them, and asks it for more when none is under way. */
export class TaskDispatcher {
  readonly #options: TaskDispatcherOptions
  readonly #limiter: Limiter
  readonly #results: Promise<EvalResult>[] = []
  readonly #controls: EvalControl[] = []
  readonly #changed = new Wake()
  readonly #signal: AbortSignal
  #underWay = 0
  #failure: { readonly error: unknown } | undefined
  #ended = false

  constructor(options: TaskDispatcherOptions) {
    this.#options = options
    this.#limiter = new Limiter(options.maxTasks)
    this.#signal = options.options.signal ?? new AbortController().signal
    setMaxListeners(Number.POSITIVE_INFINITY, this.#signal)
  }

  /** Results in the order in which the tasks were added. Rejects when the source threw, once all evals have ended. */
  async run(initial: readonly PreparedEval[]): Promise<EvalResult[]> {
    const { run, options } = this.#options
    await insideRun(
      (tasks) => this.#add(tasks),
      async () => {
        this.#begin(initial)
        const { connections, left } = this.#options
        options.onStart?.({ run, evals: this.#controls, connections, left })
        do await this.#untilIdle()
        while (await this.#addNext())
      },
    )
    this.#ended = true
    const results = await Promise.all(this.#results)
    if (this.#failure) throw this.#failure.error
    return results
  }

  async #untilIdle(): Promise<void> {
    while (this.#underWay > 0) await this.#changed.wait()
  }

  /** Whether there was more. */
  async #addNext(): Promise<boolean> {
    if (this.#signal.aborted || this.#failure) return false
    const asked = async () => this.#options.source.nextTasks({ signal: this.#signal })
    let hasAnswered = false
    const answer = untilAborted(asked(), this.#signal)
      .then((tasks) => this.#add(tasks ?? []).then(() => tasks ?? []))
      .catch((error) => this.#fail(error))
      .then((tasks) => {
        hasAnswered = true
        this.#changed.set()
        return (tasks?.length ?? 0) > 0
      })
    // A task that is added while the source blocks runs at once.
    while (!hasAnswered) await this.#changed.wait()
    return (await answer) || this.#underWay > 0
  }

  async #add(tasks: readonly (Task | LoadedTask)[]): Promise<void> {
    if (this.#ended) throw new BelljarError('run-ended', 'enqueueTask(): the run has ended')
    if (tasks.length === 0 || this.#signal.aborted) return
    this.#underWay++
    try {
      this.#begin(await this.#options.preparation.prepare(tasks))
    } finally {
      this.#underWay--
      this.#changed.set()
    }
  }

  #begin(prepared: readonly PreparedEval[]): void {
    for (const one of prepared) {
      this.#underWay++
      this.#controls.push(one.evaluation.control)
      this.#results.push(this.#runOne(one))
    }
  }

  async #runOne({ evaluation, start, ended, task }: PreparedEval): Promise<EvalResult> {
    try {
      using _slot = await this.#limiter.acquire({ signal: this.#signal }).catch(() => undefined)
      const { source } = this.#options
      const isTold = source.sampleComplete !== TaskSource.prototype.sampleComplete
      const onRecord = (record: SampleRecord) => this.#tell(() => source.sampleComplete(record, task))
      const result = ended ?? (await evaluation.run({ ...start, onRecord: isTold ? onRecord : undefined }))
      if (ended) this.#options.options.onEvent?.({ type: 'eval-end', ...ended })
      await this.#tell(() => this.#options.source.taskComplete({ ...result, task }))
      return result
    } finally {
      this.#underWay--
      this.#changed.set()
    }
  }

  async #tell(call: () => Promise<AddedTasks>): Promise<void> {
    if (this.#signal.aborted) return
    try {
      const added = await untilAborted(call(), this.#signal)
      await this.#add(added ?? [])
    } catch (error) {
      if (!this.#signal.aborted) this.#fail(error)
    }
  }

  #fail(error: unknown): undefined {
    this.#failure ??= { error }
    return undefined
  }
}
