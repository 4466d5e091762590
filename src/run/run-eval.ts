import type { SampleLimits } from '../limit/budget.ts'
import { errorRecord } from '../log/records/error-record.ts'
import type { ErrorRecord, FooterRecord, SampleRecord } from '../log/records/records.ts'
import type { Sample } from '../sample/sample.ts'
import type { SampleId } from '../sample/sample-id.ts'
import type { ResolvedConfig } from '../sandbox/provider.ts'
import { insideTask, type TaskScope } from '../task/enqueue.ts'
import { sleep } from '../util/abort.ts'
import { linkedController } from '../util/linked-controller.ts'
import { allFailed, ConfigGates } from './config/config-gate.ts'
import { GateUses } from './config/gate-uses.ts'
import { chooseSandbox, chooseVerifier } from './config/sandbox-choice.ts'
import { EvalControl } from './control/eval-control.ts'
import { Dispatcher } from './dispatch/dispatcher.ts'
import type { PlannedRun, RunOutcome } from './dispatch/planned-sample.ts'
import { OperatorError } from './dispatch/run-control.ts'
import { SamplePlanner } from './dispatch/sample-planner.ts'
import { isRetried } from './error-policy.ts'
import { EvalAdditions } from './eval-additions.ts'
import { EvalJournal } from './eval-journal.ts'
import type { EvalContext, EvalResult, EvalStart } from './eval-parts.ts'
import { Outcomes } from './outcomes.ts'
import type { ResolvedTask } from './resolved-task.ts'
import { EvalReuse } from './resume/eval-reuse.ts'
import type { Reuse } from './resume/reuse.ts'
import type { SampleLife } from './sample/sample-life.ts'
import { SampleRunner } from './sample/sample-runner.ts'
import { SampleWaits } from './sample/sample-waits.ts'
import { Stopping } from './stopping.ts'

/** One task being run: its dispatcher, its log, and whatever ends it early. */
export class EvalRun {
  readonly task: ResolvedTask
  readonly control: EvalControl
  readonly #context: EvalContext
  readonly #outcomes: Outcomes
  readonly #gates: ConfigGates
  readonly #dispatcher: Dispatcher
  readonly #stopping: Stopping
  readonly #limits: SampleLimits
  readonly #ending
  readonly #log: EvalJournal
  readonly #uses: GateUses
  readonly #additions: EvalAdditions
  #reuse: EvalReuse | undefined
  #onRecord: EvalStart['onRecord']
  #error: ErrorRecord | undefined

  constructor(task: ResolvedTask, context: EvalContext) {
    this.task = task
    this.#context = context
    this.#outcomes = new Outcomes(task)
    this.#log = new EvalJournal(task.name, context)
    this.#ending = linkedController(context.options.signal)
    this.#limits = { ...task.task.definition.limits, ...context.options.limits }
    this.#stopping = new Stopping(task.task.definition.earlyStopping, this.#ending.signal)
    this.#gates = this.#makeGates()
    this.#uses = new GateUses(context.manager, task.source !== undefined)
    const isRun = (id: SampleId) => !this.#reuse?.isWhole(id, task.epochs)
    const planner = new SamplePlanner(task, this.#gates, isRun)
    this.#dispatcher = this.#makeDispatcher()
    this.#additions = new EvalAdditions({
      epochs: task.epochs,
      source: task.source,
      planner,
      dispatcher: this.#dispatcher,
      outcomes: this.#outcomes,
      stopping: this.#stopping,
      uses: this.#uses,
      waits: context.waits,
      log: this.#log,
    })
    this.control = new EvalControl({
      task: task.name,
      eval: context.eval,
      dispatcher: this.#dispatcher,
      outcomes: this.#outcomes,
      limits: this.#limits,
      cancel: () => this.#ending.abort(new OperatorError('an operator cancelled the task')),
    })
  }

  /** Resolves the sandboxes of the seed; nothing is started. @throws ConfigError */
  resolveSandboxes(): Promise<ResolvedConfig[]> {
    return this.#gates.resolve(this.task.seed.map(({ sample }) => sample))
  }

  /** Key of the configuration that a sample asks for. @throws ConfigError */
  sandboxKeyOf(sample: Sample): Promise<string | undefined> {
    return this.#gates.keyOf(sample)
  }

  /** Runs every sample and finishes the log; what was started is removed beside and by the manager. */
  async run({ journal, header, onRecord, reuse }: EvalStart): Promise<EvalResult> {
    this.#log.open(journal)
    this.#onRecord = onRecord
    this.#reuse = reuse && this.#makeReuse(reuse)
    const reachedEnd = await insideTask(this.#scope(), async () => {
      await this.#stopping.start(this.task).catch((error) => this.#fail('internal', error))
      this.#begin()
      return this.#dispatcher.run()
    })
    this.#uses.close()
    if (reachedEnd) this.#reuse?.markOutside()
    const isWhole = reachedEnd || this.#isComplete
    // What was to be run again and was not stands.
    for (const run of this.#dispatcher.queue.live) if (run.superseded) this.#outcomes.abandon(run)
    const footer = await this.#log.finish(this.#footer(isWhole))
    await reuse?.prior[Symbol.asyncDispose]()
    this.#ending[Symbol.dispose]()
    const { name: task } = this.task
    const { status } = footer
    const ended = { task, eval: this.#context.eval, status, log: journal.path, footer }
    this.#log.event({ type: 'eval-end', ...ended })
    return { ...ended, header }
  }

  #scope(life?: SampleLife): TaskScope {
    const enqueue = (samples: readonly Sample[]) => this.#additions.enqueue(samples, life?.uuid)
    const { name: task, directory } = this.task
    return { task, directory, enqueue: this.task.source && enqueue }
  }

  #makeReuse(reuse: Reuse): EvalReuse {
    return new EvalReuse({
      reuse,
      seedSize: this.task.seed.length,
      gates: this.#gates,
      outcomes: this.#outcomes,
      log: this.#log,
      add: (samples) =>
        void this.#additions.add(samples, { origin: 'the resumed log', hasHandles: false, isLogged: true }),
      logged: (record) => this.#stopping.logged(record),
      uses: this.#uses,
      fail: (kind, error) => this.#fail(kind, error),
    })
  }

  #makeGates(): ConfigGates {
    const { manager, providerOf, secrets } = this.#context
    return new ConfigGates({
      manager,
      taskDirectory: this.task.directory,
      allow: this.task.task.definition.allow,
      specOf: (sample) => chooseSandbox(this.task.sandbox, sample),
      verifierOf: (sample) => chooseVerifier(this.task.task.verifier, sample),
      providerOf,
      context: {
        signal: this.#ending.signal,
        report: ({ kind, message }) => this.#log.note(kind === 'warning' ? 'warning' : 'info', message),
      },
      onResolved: (config) => secrets.add(config.secrets ?? []),
      onBegin: (config) => this.#log.preparing(config),
      onSettled: (outcome) => {
        this.#log.config(outcome)
        const changed = this.#reuse?.changedImages(outcome)
        if (changed) this.#fail('config', changed)
      },
    })
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
      isSpent: () => this.task.selection.isSpent,
      // The life of a sample is its own, also when the code of another one added it.
      run: (run) => insideTask(this.#scope(), () => this.#attempt(runner, run)),
      prior: ({ id }, epoch) => this.#reuse?.planOf(id, epoch),
      reuse: async (reused) => (await this.#reuse?.takeOver(reused)) ?? reused.run,
      recorded: (record) => this.#onRecord?.(record),
      abandoned: (run, why) => this.#abandoned(run, why),
      plan: (samples, origin) => this.#additions.followUps(samples, origin),
      callbackFailed: (error, origin) => this.#callbackFailed(error, origin),
      keepState: (state, told) => this.#log.state(state, told),
      fail: (error, origin) =>
        this.#fail(origin === 'log' ? 'log' : 'source', new Error(origin, { cause: error })),
      warn: (message) => this.#log.note('warning', message),
    })
  }

  #makeRunner(): SampleRunner {
    const { run, eval: evalId, manager, options, secrets, waits } = this.#context
    const waiting = new SampleWaits(waits, () => this.#dispatcher.slots)
    return new SampleRunner({
      run,
      eval: evalId,
      task: this.task,
      manager,
      models: { ...this.task.models, calls: this.#context.calls },
      limits: this.#limits,
      prices: options.prices,
      callDefaults: { maxOutputBytes: options.maxOutputBytes, maxReadBytes: options.maxReadBytes },
      signal: this.#ending.signal,
      serviceLogs: options.serviceLogs,
      secrets,
      keepServiceLogs: (run, logs) => this.#log.serviceLogs(run, logs),
      keepArtifacts: options.keepArtifacts,
      artifactFolder: (run) => this.#log.artifactFolder(run),
      append: (record) => this.#log.append(record),
      note: (record) => this.#log.keep(record),
      emit: (event) => this.#log.event(event),
      warn: (message, { planned, epoch }) =>
        this.#log.note('warning', message, { sample: planned.id, epoch }),
      inScope: (life, code) =>
        insideTask({ ...this.#scope(life), whileWaiting: waiting.whileWaiting(life) }, code),
      blocked: (run) => waiting.blocked(run),
      up: (run) => waits.up(run),
      removed: (run) => waits.removed(run),
      isRetried: (run, error) =>
        !this.#dispatcher.isClosing &&
        !run.control.action &&
        isRetried(this.task.policy, error, run.earlier.slice(run.foreignAttempts)),
    })
  }

  async #attempt(runner: SampleRunner, run: PlannedRun): Promise<RunOutcome> {
    const { waits } = this.#context
    waits.begin(run)
    try {
      const halted = await this.#stopping.halts(run)
      if (halted !== undefined) return { kind: 'abandoned', why: halted }
      const outcome = await runner.run(run)
      if (outcome.kind === 'record') await this.#logged(run, outcome.record)
      else if (outcome.kind === 'retry') this.#log.retried(run)
      return this.#reuse?.toTell(run, outcome) ?? outcome
    } finally {
      waits.end(run)
    }
  }

  async #logged(run: PlannedRun, record: SampleRecord): Promise<void> {
    this.#uses.ended(run.planned.gate)
    const error = this.#outcomes.add(run, record)
    if (error) this.#fail(record.error?.kind ?? 'internal', error)
    await this.#stopping.logged(record).catch((reason) => this.#fail('internal', reason))
  }

  #abandoned(run: PlannedRun, why: string): boolean {
    this.#uses.ended(run.planned.gate)
    this.#log.abandoned(run, why)
    return this.#outcomes.abandon(run) || this.#reuse?.isNews(run) === true
  }

  #begin(): void {
    try {
      this.#reuse?.restore(this.task.source)
    } catch (error) {
      this.#fail('source', new Error('restoreState', { cause: error }))
      return
    }
    const gates = [...new Set(this.#additions.seed().map(({ gate }) => gate))]
    this.#reuse?.addAgain()
    void allFailed(gates).then((error) => error && this.#fail('config', error))
  }

  #callbackFailed(error: unknown, origin: string): void {
    const failure = new Error(origin, { cause: error })
    if (this.task.task.definition.sourceErrors !== 'sample') this.#fail('source', failure)
    else this.#log.note('error', errorRecord('source', failure).message)
  }

  /** The first error stands; all that waits is dropped and all that runs is cancelled. */
  #fail(kind: ErrorRecord['kind'], error: unknown): void {
    if (this.#ending.signal.aborted) return
    this.#error = errorRecord(kind, error)
    this.#ending.abort(error)
  }

  #footer(isComplete: boolean): FooterRecord {
    const isCancelled = this.#ending.signal.aborted && !this.#error && !isComplete
    const failure = this.#outcomes.failure
    if (failure && !isCancelled) this.#error ??= errorRecord('internal', failure)
    return {
      type: 'footer',
      status: isCancelled ? 'cancelled' : this.#error ? 'error' : 'success',
      completedAt: new Date().toISOString(),
      totals: { ...this.#outcomes.totals },
      scores: this.#outcomes.scores(),
      versions: this.#outcomes.versions,
      error: this.#error,
      sourceEnded: isComplete,
      stopped: this.control.stopped,
      earlyStopping: this.#stopping.summary(),
    }
  }

  /** Whether every sample of a fixed data set has its outcome: an abort that comes after the last one has cut nothing short. */
  get #isComplete(): boolean {
    const { total, success, error, limit } = this.#outcomes.totals
    return !this.task.source && success + error + limit === total
  }
}
