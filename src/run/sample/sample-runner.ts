import type { Model } from '../../agent/model.ts'
import { BelljarError, LimitExceededError } from '../../errors.ts'
import { Budget } from '../../limit/budget.ts'
import { type ErrorRecord, isScore, type LogRecord, type SampleRecord } from '../../log/records.ts'
import type { ManagedSandbox } from '../../sandbox/managed-sandbox.ts'
import type { SandboxManager } from '../../sandbox/sandbox-manager.ts'
import type { Score } from '../../score/scorer.ts'
import { untilAborted } from '../../util/abort.ts'
import { linkedController } from '../../util/linked-controller.ts'
import type { PlannedRun } from '../dispatch/planned-sample.ts'
import type { ResolvedTask } from '../resolved-task.ts'
import type { Phase, RunEvent } from '../run-event.ts'
import { runSetup } from './run-setup.ts'
import { SampleAccess } from './sample-access.ts'
import { placeFiles } from './sample-files.ts'
import { SampleLife } from './sample-life.ts'

export interface SampleRunnerOptions {
  readonly run: string
  readonly eval: string
  readonly task: ResolvedTask
  readonly manager: SandboxManager
  readonly model: Model | undefined
  /** Aborted when the eval ends at once. */
  readonly signal: AbortSignal
  readonly append: (record: LogRecord) => Promise<void>
  readonly note: (record: LogRecord) => void
  readonly emit: (event: RunEvent) => void
  /** What teardown met. */
  readonly warn: (message: string, run: PlannedRun) => void
}

const SCORE_TIMEOUT_MS = 1_800_000

/** Takes one epoch of one sample through its life: sandbox, files, setup, agent, tests, scorers, record. */
export class SampleRunner {
  readonly #options: SampleRunnerOptions

  constructor(options: SampleRunnerOptions) {
    this.#options = options
  }

  /** Resolves when the record is in the log; teardown goes on beside. Rejects only when the log cannot be written. */
  async run(run: PlannedRun): Promise<SampleRecord> {
    const life = new SampleLife(run, this.#options.note)
    let sandbox: ManagedSandbox | undefined
    try {
      sandbox = await this.#start(life)
      await this.#work(life, sandbox)
    } catch (error) {
      if (this.#options.signal.aborted) life.cancel()
      else
        life.fail(
          error instanceof PhaseError ? error.kind : 'internal',
          error instanceof PhaseError ? error.cause : error,
        )
    }
    if (sandbox) void this.#remove(sandbox, run)
    const record = life.finish(run.planned.gate.sandbox)
    await this.#options.append(record)
    this.#options.emit({ type: 'sample-end', task: this.#options.task.name, record })
    return record
  }

  async #start(life: SampleLife): Promise<ManagedSandbox | undefined> {
    const { gate, id } = life.run.planned
    if (gate.state === 'failed') throw new PhaseError('config', gate.error)
    if (!gate.sandbox) return undefined
    const { run, eval: evalId, task, manager, signal } = this.#options
    const { provider, initialised } = gate.sandbox
    const identity = {
      run,
      eval: evalId,
      task: task.name,
      sample: String(id),
      epoch: life.run.epoch,
      attempt: 1,
    }
    const askedMs = Date.now()
    let slotMs = askedMs
    this.#enter(life, 'wait')
    const onSlot = () => {
      slotMs = Date.now()
      life.spent('wait', slotMs - askedMs)
      this.#enter(life, 'start')
    }
    try {
      return await manager.start(provider, initialised.config, { identity, group: evalId, signal, onSlot })
    } catch (error) {
      throw new PhaseError('sandbox', error)
    } finally {
      life.spent('start', Date.now() - slotMs)
    }
  }

  async #work(life: SampleLife, sandbox: ManagedSandbox | undefined): Promise<void> {
    const { planned } = life.run
    const { sample } = planned
    const { task, signal } = this.#options
    if (sandbox) {
      const places = {
        services: sandbox.services,
        default: sandbox.default,
        directory: task.directory,
        signal,
      }
      const { files, setup, tests } = sample
      if (files) await this.#phase(life, 'files', () => placeFiles(files, places))
      if (setup !== undefined) {
        const timeoutMs = task.task.definition.setupTimeoutMs
        await this.#phase(life, 'setup', () => runSetup(sandbox.default, setup, { timeoutMs, signal }))
      }
      await this.#agent(life, sandbox)
      if (tests)
        await this.#phase(life, 'tests', () => placeFiles(tests, { ...places, user: '0', replace: true }))
    } else {
      await this.#agent(life, undefined)
    }
    await this.#score(life, sandbox)
  }

  async #agent(life: SampleLife, sandbox: ManagedSandbox | undefined): Promise<void> {
    const { task, model } = this.#options
    const { limits } = task.task.definition
    using time = linkedController(this.#options.signal)
    const { timeMs } = limits ?? {}
    const timer =
      timeMs === undefined
        ? undefined
        : setTimeout(() => time.abort(new LimitExceededError({ type: 'time', limit: timeMs })), timeMs)
    const access = new SampleAccess(life, { sandbox, model, budget: new Budget(limits), signal: time.signal })
    try {
      await this.#phase(life, 'agent', async () => {
        const output = await untilAborted(task.task.agent(access.agentContext()), time.signal)
        if (typeof output === 'string') life.state.output = output
      })
    } catch (error) {
      const limit = [time.signal.reason, error instanceof PhaseError ? error.cause : error].find(
        (reason) => reason instanceof LimitExceededError,
      )
      if (!limit || this.#options.signal.aborted) throw error
      life.reachLimit(limit)
    } finally {
      clearTimeout(timer)
      access.close()
      const stopped = (await sandbox?.stopCommands()) ?? []
      if (stopped.length > 0)
        life.record({
          type: 'info',
          startedMs: Date.now(),
          source: 'belljar',
          data: { stoppedCommands: stopped },
        })
    }
  }

  async #score(life: SampleLife, sandbox: ManagedSandbox | undefined): Promise<void> {
    const { task } = this.#options
    const timeoutMs = task.task.definition.scoreTimeoutMs ?? SCORE_TIMEOUT_MS
    using time = linkedController(this.#options.signal)
    const timer = setTimeout(
      () => time.abort(new Error(`the scorers took longer than ${timeoutMs} ms`)),
      timeoutMs,
    )
    const access = new SampleAccess(life, {
      sandbox,
      model: undefined,
      budget: new Budget(),
      signal: time.signal,
    })
    try {
      await this.#phase(life, 'score', async () => {
        for (const { name, scorer } of task.scorers) {
          const score = await untilAborted(scorer.score(access.scorerContext()), time.signal)
          if (isUnscored(score)) continue
          if (!isScore(score))
            throw new BelljarError(
              'scorer-failed',
              `scorer '${name}' returned no score: ${JSON.stringify(score)}`,
            )
          life.scores[name] = score
        }
      })
    } finally {
      clearTimeout(timer)
      access.close()
    }
  }

  async #phase<T>(life: SampleLife, name: Phase, work: () => Promise<T>): Promise<T> {
    const startedMs = Date.now()
    this.#enter(life, name)
    try {
      this.#options.signal.throwIfAborted()
      return await work()
    } catch (error) {
      throw new PhaseError(KIND_OF_PHASE[name], error)
    } finally {
      life.spent(name, Date.now() - startedMs)
    }
  }

  #enter({ run: { planned, epoch } }: SampleLife, phase: Phase): void {
    this.#options.emit({ type: 'sample-phase', task: this.#options.task.name, id: planned.id, epoch, phase })
  }

  async #remove(sandbox: ManagedSandbox, run: PlannedRun): Promise<void> {
    const report = await sandbox.remove()
    for (const { kind, name, reason } of report.left)
      this.#options.warn(`${kind} ${name} was not removed: ${reason}`, run)
  }
}

const KIND_OF_PHASE: Readonly<Record<Phase, ErrorRecord['kind']>> = {
  wait: 'sandbox',
  start: 'sandbox',
  files: 'files',
  setup: 'setup',
  agent: 'agent',
  tests: 'tests',
  score: 'scorer',
}

/** NaN is what the field writes for "unscored". */
function isUnscored(score: Score | null): score is null {
  return score === null || (typeof score === 'object' && Number.isNaN(score.value))
}

/** Carries which phase an error came from. */
class PhaseError extends Error {
  readonly kind: ErrorRecord['kind']

  constructor(kind: ErrorRecord['kind'], cause: unknown) {
    super('phase failed', { cause })
    this.kind = kind
  }
}
