import type { RunModels } from '../../agent/model-meter.ts'
import type { Prices, SampleLimits } from '../../limit/budget.ts'
import type { ErrorRecord, LogRecord } from '../../log/records/records.ts'
import { materializeInput } from '../../sample/media.ts'
import type { ManagedSandbox } from '../../sandbox/managed-sandbox.ts'
import type { SandboxReport, ServiceLog } from '../../sandbox/provider.ts'
import type { CallDefaults } from '../../sandbox/recorded-sandbox.ts'
import type { SandboxManager } from '../../sandbox/sandbox-manager.ts'
import { linkedController } from '../../util/linked-controller.ts'
import type { SecretMask } from '../../util/secret-mask.ts'
import type { PlannedRun, RunOutcome } from '../dispatch/planned-sample.ts'
import type { ResolvedTask } from '../resolved-task.ts'
import type { Phase, RunEvent } from '../run-event.ts'
import { agentPhase } from './agent-phase.ts'
import { PhaseError, runPhase } from './phases.ts'
import { runSetup } from './run-setup.ts'
import { placeFiles } from './sample-files.ts'
import { SampleLife } from './sample-life.ts'
import { scorePhase } from './score-phase.ts'
import { SampleServiceLogs, type ServiceLogs } from './service-logs.ts'

export interface SampleRunnerOptions {
  readonly run: string
  readonly eval: string
  readonly task: ResolvedTask
  readonly manager: SandboxManager
  readonly models: RunModels
  /** Read wherever they are checked: they may change. */
  readonly limits: SampleLimits
  readonly prices: Prices | undefined
  readonly callDefaults: CallDefaults
  /** Aborted when the eval ends at once. */
  readonly signal: AbortSignal
  /** Default 'failed'. */
  readonly serviceLogs: ServiceLogs | undefined
  /** Writes them beside the log. */
  readonly keepServiceLogs: (run: PlannedRun, logs: readonly ServiceLog[]) => Promise<void>
  readonly secrets: SecretMask
  readonly append: (record: LogRecord) => Promise<void>
  readonly note: (record: LogRecord) => void
  readonly emit: (event: RunEvent) => void
  /** What teardown met. */
  readonly warn: (message: string, run: PlannedRun) => void
  /** Runs code of an agent or a scorer as part of the sample. */
  readonly inScope: <T>(life: SampleLife, code: () => T) => T
  /** The run waits for a sandbox slot until what is returned is called. */
  readonly blocked: (run: PlannedRun) => () => void
  readonly up: (run: PlannedRun) => void
  readonly removed: (run: PlannedRun) => void
  readonly isRetried: (run: PlannedRun, error: ErrorRecord) => boolean
}

/** What the phases of one attempt share. */
export interface Stage {
  readonly options: SampleRunnerOptions
  readonly sandbox: ManagedSandbox | undefined
  /** Aborted when the eval or this run ends without being scored. */
  readonly signal: AbortSignal
  readonly phase: <T>(name: Phase, work: () => Promise<T>) => Promise<T>
}

/** Takes one attempt at one epoch of a sample through its life: sandbox, files, setup, agent, tests, scorers, record. */
export class SampleRunner {
  readonly #options: SampleRunnerOptions
  readonly #logs: SampleServiceLogs

  constructor(options: SampleRunnerOptions) {
    this.#options = options
    this.#logs = new SampleServiceLogs(options)
  }

  /** Resolves when the record is in the log; teardown goes on beside. Rejects only when the log cannot be written. */
  async run(run: PlannedRun): Promise<RunOutcome> {
    const { signal, note, isRetried } = this.#options
    const life = new SampleLife(run, note)
    using ending = linkedController(signal, run.control.signal)
    let sandbox: ManagedSandbox | undefined
    try {
      sandbox = await this.#start(life, ending.signal)
      await this.#work(life, this.#stage(life, { sandbox, signal: ending.signal }))
    } catch (error) {
      this.#settle(life, error)
    }
    if (life.failed && !this.#options.signal.aborted) sandbox?.markFailed()
    if (sandbox && this.#logs.isKept(life)) sandbox.beforeRemoval(() => this.#logs.keepOf(sandbox, run))
    if (sandbox) void this.#remove(sandbox, run)
    if (isUnbegun(run) && !signal.aborted)
      return { kind: 'abandoned', why: 'an operator ended it before it had a sandbox' }
    if (life.error && isRetried(run, life.error)) {
      run.earlier.push({ uuid: life.uuid, attempt: run.attempt, error: life.error })
      return { kind: 'retry' }
    }
    const record = life.finish(run.planned.gate.sandbox)
    await this.#options.append(record)
    this.#options.emit({ type: 'sample-end', task: this.#options.task.name, record })
    return { kind: 'record', record }
  }

  #settle(life: SampleLife, error: unknown): void {
    const { action } = life.run.control
    if (this.#options.signal.aborted || action === 'cancel') life.cancel()
    else if (action === 'error') life.fail('operator', life.run.control.signal.reason)
    else if (error instanceof PhaseError) life.fail(error.kind, error.cause)
    else life.fail('internal', error)
  }

  #stage(life: SampleLife, parts: Pick<Stage, 'sandbox' | 'signal'>): Stage {
    const enter = (phase: Phase) => this.#enter(life, phase)
    const phase: Stage['phase'] = (name, work) => runPhase(life, { name, enter, signal: parts.signal, work })
    return { options: this.#options, ...parts, phase }
  }

  async #start(life: SampleLife, ending: AbortSignal): Promise<ManagedSandbox | undefined> {
    const { run } = life
    const { gate, id } = run.planned
    if (gate.state === 'failed') throw new PhaseError('config', gate.error)
    if (!gate.sandbox) {
      run.control.state = 'working'
      return undefined
    }
    const { run: runId, eval: evalId, task, manager, secrets } = this.#options
    const { provider, initialised } = gate.sandbox
    const identity = {
      run: runId,
      eval: evalId,
      task: secrets.text(task.name),
      sample: secrets.text(String(id)),
      epoch: run.epoch,
      attempt: run.attempt,
    }
    const report = ({ kind, message }: SandboxReport) => {
      if (kind === 'warning') this.#options.warn(message, run)
    }
    const onServiceLogs = this.#logs.ofFailedStart(run)
    return this.#startSandbox(
      life,
      (onSlot, signal) =>
        manager.start(provider, initialised.config, {
          identity,
          group: evalId,
          signal,
          onSlot,
          onGone: () => this.#options.removed(run),
          report,
          onServiceLogs,
        }),
      ending,
    )
  }

  async #startSandbox(
    life: SampleLife,
    start: (onSlot: () => void, signal: AbortSignal) => Promise<ManagedSandbox>,
    ending: AbortSignal,
  ): Promise<ManagedSandbox> {
    const { run } = life
    const askedMs = Date.now()
    let slotMs = askedMs
    this.#enter(life, 'wait')
    const unblock = this.#options.blocked(run)
    using waiting = linkedController(ending)
    // To be scored, what has no slot yet has not begun; what has one goes on until its agent would begin.
    const giveUp = () => waiting.abort(run.control.agentSignal.reason)
    run.control.agentSignal.addEventListener('abort', giveUp, { once: true })
    const onSlot = () => {
      run.control.agentSignal.removeEventListener('abort', giveUp)
      unblock()
      this.#options.up(run)
      run.control.state = 'working'
      slotMs = Date.now()
      life.spent('wait', slotMs - askedMs)
      this.#enter(life, 'start')
    }
    try {
      return await start(onSlot, waiting.signal)
    } catch (error) {
      throw new PhaseError('sandbox', error)
    } finally {
      unblock()
      life.spent('start', Date.now() - slotMs)
    }
  }

  async #work(life: SampleLife, stage: Stage): Promise<void> {
    const { input, files, setup, tests } = life.run.planned.sample
    const { sandbox, signal } = stage
    const { directory, task } = this.#options.task
    const places = sandbox && { services: sandbox.services, default: sandbox.default, directory, signal }
    if ((places && files) || typeof input !== 'string') {
      await stage.phase('files', async () => {
        life.content = await materializeInput(input, { directory, signal })
        if (places && files) await placeFiles(files, places)
      })
    }
    if (places && setup !== undefined) {
      const timeoutMs = task.definition.setupTimeoutMs
      await stage.phase('setup', () => runSetup(places.default, setup, { timeoutMs, signal }))
    }
    await this.#agent(life, stage)
    if (places && tests)
      await stage.phase('tests', () => placeFiles(tests, { ...places, user: '0', replace: true }))
    await scorePhase(life, stage)
  }

  /** With `scoreOnError` an error of the agent that is not tried again is scored all the same. */
  async #agent(life: SampleLife, stage: Stage): Promise<void> {
    try {
      await agentPhase(life, stage)
    } catch (error) {
      const isOwn = error instanceof PhaseError && !stage.signal.aborted
      if (!isOwn || !this.#options.task.scoreOnError) throw error
      life.fail(error.kind, error.cause)
      if (life.error && this.#options.isRetried(life.run, life.error)) throw error
    }
  }

  #enter({ run: { planned, epoch, control } }: SampleLife, phase: Phase): void {
    control.doing = { phase, sinceMs: Date.now() }
    this.#options.emit({ type: 'sample-phase', task: this.#options.task.name, id: planned.id, epoch, phase })
  }

  async #remove(sandbox: ManagedSandbox, run: PlannedRun): Promise<void> {
    const report = await sandbox.remove()
    this.#options.removed(run)
    for (const { kind, name, reason } of report.left)
      this.#options.warn(`${kind} ${name} was not removed: ${reason}`, run)
  }
}

/** Whether an operator ended a run that had all but a sandbox. */
function isUnbegun({ control, planned }: PlannedRun): boolean {
  return control.action !== undefined && control.state === 'starting' && planned.gate.state !== 'failed'
}
