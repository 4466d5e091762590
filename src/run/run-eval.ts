import { BelljarError, ConfigError } from '../errors.ts'
import { errorRecord } from '../log/error-record.ts'
import type { Journal } from '../log/journal.ts'
import type { ErrorRecord, EvalStatus, FooterRecord, HeaderRecord, SampleRecord } from '../log/records.ts'
import type { Sample } from '../sample/sample.ts'
import type { ResolvedConfig } from '../sandbox/provider.ts'
import type { SandboxManager } from '../sandbox/sandbox-manager.ts'
import { type EnqueuedSample, insideTask } from '../task/enqueue.ts'
import type { FollowUps } from '../task/sample-source.ts'
import { sleep } from '../util/abort.ts'
import { linkedController } from '../util/linked-controller.ts'
import { ConfigGates, type ConfigGatesOptions, type GateOutcome } from './config/config-gate.ts'
import { configRecord } from './config/config-record.ts'
import { chooseSandbox } from './config/sandbox-choice.ts'
import { Dispatcher } from './dispatch/dispatcher.ts'
import type { PlannedRun, PlannedSample } from './dispatch/planned-sample.ts'
import { enqueuedSample, SamplePlanner } from './dispatch/sample-planner.ts'
import type { EvaluateOptions } from './options.ts'
import type { ResolvedTask } from './resolved-task.ts'
import { Results } from './results.ts'
import { SampleRunner } from './sample/sample-runner.ts'

export interface EvalContext {
  readonly run: string
  readonly eval: string
  readonly manager: SandboxManager
  readonly providerOf: ConfigGatesOptions['providerOf']
  readonly maxSamples: number
  readonly options: EvaluateOptions
}

/** How one eval ended. */
export interface EvalResult {
  readonly task: string
  readonly eval: string
  readonly status: EvalStatus
  /** Path of the log. */
  readonly log: string
  readonly header: HeaderRecord
  readonly footer: FooterRecord
}

/** One task being run: its dispatcher, its log, and whatever ends it early. */
export class EvalRun {
  readonly task: ResolvedTask
  readonly #context: EvalContext
  readonly #results: Results
  readonly #gates: ConfigGates
  readonly #planner: SamplePlanner
  readonly #ending
  #journal: Journal | undefined
  #dispatcher: Dispatcher | undefined
  #error: ErrorRecord | undefined

  constructor(task: ResolvedTask, context: EvalContext) {
    this.task = task
    this.#context = context
    this.#results = new Results(task.scorers)
    this.#ending = linkedController(context.options.signal)
    this.#gates = new ConfigGates({
      manager: context.manager,
      taskDirectory: task.directory,
      specOf: (sample) => chooseSandbox(task.sandbox, sample),
      providerOf: context.providerOf,
      context: {
        signal: this.#ending.signal,
        report: ({ kind, message }) => this.#note(kind === 'warning' ? 'warning' : 'info', message),
      },
      onSettled: (outcome) => this.#configSettled(outcome),
    })
    this.#planner = new SamplePlanner(task, this.#gates)
  }

  /** Resolves the sandboxes of the seed; nothing is started. @throws ConfigError */
  resolveSandboxes(): Promise<ResolvedConfig[]> {
    return this.#gates.resolve(this.task.seed.map(({ sample }) => sample))
  }

  /** Runs every sample and finishes the log; what was started is removed beside and by the manager. */
  async run(journal: Journal, header: HeaderRecord): Promise<EvalResult> {
    this.#journal = journal
    const dispatcher = this.#makeDispatcher()
    this.#dispatcher = dispatcher
    const scope = {
      task: this.task.name,
      enqueue: this.task.source && ((samples: readonly Sample[]) => this.#enqueue(samples)),
    }
    const reachedEnd = await insideTask(scope, async () => {
      this.#addSeed(dispatcher)
      return dispatcher.run()
    })
    const footer = this.#footer(reachedEnd)
    await this.#finish(journal, footer)
    this.#ending[Symbol.dispose]()
    const { name: task } = this.task
    const { status } = footer
    this.#context.options.onEvent?.({ type: 'eval-end', task, status, log: journal.path, footer })
    return { task, eval: this.#context.eval, status, log: journal.path, header, footer }
  }

  #makeDispatcher(): Dispatcher {
    const { options, maxSamples } = this.#context
    const runner = this.#makeRunner()
    return new Dispatcher({
      epochs: this.task.epochs,
      maxSamples,
      source: this.task.source,
      prefetch: this.task.task.definition.prefetch,
      sleep: options.sleep ?? sleep,
      signal: this.#ending.signal,
      run: async (run) => this.#ended(run, await runner.run(run)),
      plan: (samples, origin) => this.#addFollowUps(samples, origin),
      fail: (error, origin) =>
        this.#fail(origin === 'log' ? 'log' : 'source', new Error(origin, { cause: error })),
      warn: (message) => this.#note('warning', message),
    })
  }

  #makeRunner(): SampleRunner {
    const { run, eval: evalId, manager, options } = this.#context
    return new SampleRunner({
      run,
      eval: evalId,
      task: this.task,
      manager,
      model: options.model,
      signal: this.#ending.signal,
      append: async (record) => this.#journal?.append(record),
      note: (record) => this.#journal?.note(record),
      emit: (event) => options.onEvent?.(event),
      warn: (message, { planned, epoch }) => this.#note('warning', message, { sample: planned.id, epoch }),
    })
  }

  #addSeed(dispatcher: Dispatcher): void {
    const seed = this.#planner.seed()
    this.#planned(seed)
    dispatcher.addSeed(seed)
    void this.#failIfNoneCanStart(seed)
  }

  async #failIfNoneCanStart(seed: readonly PlannedSample[]): Promise<void> {
    await Promise.all(seed.map(({ gate }) => gate.settled))
    const [first] = seed
    if (!first || seed.some(({ gate }) => gate.state !== 'failed')) return
    this.#fail(
      'config',
      new Error('no sandbox configuration of the task could be made ready', { cause: first.gate.error }),
    )
  }

  #addFollowUps(samples: FollowUps, origin: string): void {
    if (!samples) return
    if (!Array.isArray(samples))
      throw new ConfigError('expected an array of samples or nothing', { where: origin })
    if (samples.length > 0) this.#add(samples, origin)
  }

  #enqueue(samples: readonly Sample[]): EnqueuedSample[] {
    return this.#add(samples, 'enqueueSample').map(enqueuedSample)
  }

  #add(samples: readonly Sample[], origin: string): PlannedSample[] {
    const planned = this.#planner.added(samples, origin)
    this.#planned(planned)
    this.#dispatcher?.add(planned)
    return planned
  }

  #planned(samples: readonly PlannedSample[]): void {
    this.#results.planned(samples.length * this.task.epochs)
    this.#context.options.onEvent?.({
      type: 'samples-added',
      task: this.task.name,
      total: this.#results.totals.total,
    })
  }

  #ended({ planned }: PlannedRun, record: SampleRecord): SampleRecord {
    this.#results.add(planned.index, record)
    if (record.status === 'error' && this.task.failOnError) {
      const message = `sample '${record.id}' (epoch ${record.epoch}) failed: ${record.error?.message ?? 'unknown error'}`
      this.#fail(record.error?.kind ?? 'internal', new BelljarError(record.error?.code ?? 'error', message))
    }
    return record
  }

  #configSettled(outcome: GateOutcome): void {
    const record = configRecord(outcome)
    const { name: task } = this.task
    this.#journal?.note(record)
    const { description, durationMs, error } = record
    if (error)
      this.#context.options.onEvent?.({ type: 'config-failed', task, description, message: error.message })
    else this.#context.options.onEvent?.({ type: 'config-ready', task, description, durationMs })
  }

  /** The first error stands; all that waits is dropped and all that runs is cancelled. */
  #fail(kind: ErrorRecord['kind'], error: Error): void {
    if (this.#ending.signal.aborted) return
    this.#error = errorRecord(kind, error)
    this.#ending.abort(error)
  }

  #footer(sourceEnded: boolean): FooterRecord {
    const isCancelled = this.#context.options.signal?.aborted && !this.#error
    const status = isCancelled ? 'cancelled' : this.#error ? 'error' : 'success'
    const { totals } = this.#results
    const completedAt = new Date().toISOString()
    return {
      type: 'footer',
      status,
      completedAt,
      totals: { ...totals },
      scores: this.#results.scores(),
      error: this.#error,
      sourceEnded,
    }
  }

  async #finish(journal: Journal, footer: FooterRecord): Promise<void> {
    try {
      await journal.append(footer)
      await journal.close()
    } catch (error) {
      this.#error ??= errorRecord('log', error)
      Object.assign(footer, { status: 'error', error: this.#error })
    }
  }

  #note(
    level: 'info' | 'warning' | 'error',
    message: string,
    about: { sample?: string | number; epoch?: number } = {},
  ): void {
    this.#journal?.note({ type: 'note', at: new Date().toISOString(), level, message, ...about })
    this.#context.options.onEvent?.({ type: 'note', task: this.task.name, level, message })
  }
}
