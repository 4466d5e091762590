import type { RunModels } from '../../agent/model-meter.ts'
import type { Prices, SampleLimits } from '../../limit/budget.ts'
import { byClock, offTheClock } from '../../limit/work-clock.ts'
import type { ErrorRecord, LogRecord } from '../../log/records/records.ts'
import { materializeInput } from '../../sample/media.ts'
import type { ManagedSandbox } from '../../sandbox/managed-sandbox.ts'
import type { ServiceLog } from '../../sandbox/provider.ts'
import type { CallDefaults } from '../../sandbox/recorded-sandbox.ts'
import type { SandboxManager } from '../../sandbox/sandbox-manager.ts'
import { linkedController } from '../../util/linked-controller.ts'
import type { SecretMask } from '../../util/secret-mask.ts'
import type { PlannedRun, RunOutcome } from '../dispatch/planned-sample.ts'
import type { ResolvedTask } from '../resolved-task.ts'
import type { Phase, RunEvent } from '../run-event.ts'
import { agentPhase } from './agent-phase.ts'
import { placeArtifacts } from './artifacts.ts'
import { SampleArtifacts } from './artifacts-phase.ts'
import { PhaseError, runPhase } from './phases.ts'
import { runSetup } from './run-setup.ts'
import { type PlaceOptions, placeFiles } from './sample-files.ts'
import { SampleLife } from './sample-life.ts'
import { SampleSandboxes } from './sample-sandboxes.ts'
import { scorePhase } from './score-phase.ts'
import type { ServiceLogs } from './service-logs.ts'

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
  /** Default 'all'. */
  readonly keepArtifacts: 'none' | 'failed' | 'all' | undefined
  /** Beside the log. */
  readonly artifactFolder: (run: PlannedRun) => string | undefined
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

/** What lives as long as one attempt. */
interface Attempt {
  readonly life: SampleLife
  readonly sandboxes: SampleSandboxes
  readonly artifacts: SampleArtifacts
  readonly signal: AbortSignal
}

/** Takes one attempt at one epoch of a sample through its life: sandbox, files, setup, agent, artifacts, tests, scorers, record. */
export class SampleRunner {
  readonly #options: SampleRunnerOptions

  constructor(options: SampleRunnerOptions) {
    this.#options = options
  }

  /** Resolves when the record is in the log; teardown goes on beside. Rejects only when the log cannot be written. */
  async run(run: PlannedRun): Promise<RunOutcome> {
    const options = this.#options
    const life = new SampleLife(run, options.note)
    using ending = linkedController(options.signal, run.control.signal)
    const { signal } = ending
    const enter = (phase: Phase) => this.#enter(life, phase)
    const sandboxes = new SampleSandboxes({ life, options, signal, enter })
    const artifacts = new SampleArtifacts(life)
    try {
      await sandboxes.startAgents()
      await byClock(life.clock, () => this.#work({ life, sandboxes, artifacts, signal }))
    } catch (error) {
      this.#settle(life, error)
    }
    void sandboxes.end()
    await artifacts.end(options.keepArtifacts ?? 'all')
    if (isUnbegun(run) && !options.signal.aborted)
      return { kind: 'abandoned', why: 'an operator ended it before it had a sandbox' }
    if (life.error && options.isRetried(run, life.error)) {
      run.earlier.push({ uuid: life.uuid, attempt: run.attempt, error: life.error })
      return { kind: 'retry' }
    }
    const record = life.finish(run.planned.gate)
    await options.append(record)
    options.emit({ type: 'sample-end', ...this.#about, record })
    return { kind: 'record', record }
  }

  #settle(life: SampleLife, error: unknown): void {
    const { action } = life.run.control
    if (this.#options.signal.aborted || action === 'cancel') life.cancel()
    else if (action === 'error') life.fail('operator', life.run.control.signal.reason)
    else if (error instanceof PhaseError) life.fail(error.kind, error.cause)
    else life.fail('internal', error)
  }

  #stage({ life, sandboxes, signal }: Attempt): Stage {
    const enter = (phase: Phase) => this.#enter(life, phase)
    const phase: Stage['phase'] = (name, work) => runPhase(life, { name, enter, signal, work })
    return { options: this.#options, sandbox: sandboxes.current, signal, phase }
  }

  async #work(attempt: Attempt): Promise<void> {
    const { life } = attempt
    const { input, files, setup } = life.run.planned.sample
    const stage = this.#stage(attempt)
    const { signal } = stage
    const { directory, task } = this.#options.task
    const places = this.#places(stage)
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
    await this.#agent(attempt, stage)
    await this.#judge(attempt, stage)
  }

  /** With `scoreOnError` an error of the agent that is not tried again is scored all the same. */
  async #agent({ life, artifacts }: Attempt, stage: Stage): Promise<void> {
    try {
      await agentPhase(life, stage)
    } catch (error) {
      const isOwn = error instanceof PhaseError && !stage.signal.aborted
      if (!isOwn) throw error
      life.fail(error.kind, error.cause)
      const isScored =
        this.#options.task.scoreOnError && !(life.error && this.#options.isRetried(life.run, life.error))
      if (isScored) return
      await artifacts.take(stage).catch(() => undefined)
      throw error
    }
  }

  /** Where there is a verifier, in its sandbox, into which only the artifacts and the tests come. */
  async #judge(attempt: Attempt, stage: Stage): Promise<void> {
    const { life, sandboxes, artifacts } = attempt
    const { planned } = life.run
    const { verifier } = planned.gate
    const isDeclared = this.#options.task.task.definition.artifacts ?? planned.sample.artifacts
    const taken =
      stage.sandbox && isDeclared ? await stage.phase('artifacts', () => artifacts.take(stage)) : []
    if (verifier) await offTheClock(() => sandboxes.startVerifiers(verifier))
    const judging = this.#stage(attempt)
    const { sandbox, signal } = judging
    const { tests } = planned.sample
    const places = this.#places(judging)
    if (places && (tests || (verifier && taken.length > 0)))
      await judging.phase('tests', async () => {
        if (verifier && sandbox) await placeArtifacts(taken, { sandbox: sandbox.default, signal })
        if (tests) await placeFiles(tests, { ...places, user: '0', replace: true })
      })
    await scorePhase(life, judging)
  }

  #places({ sandbox, signal }: Stage): PlaceOptions | undefined {
    const { directory } = this.#options.task
    return sandbox && { services: sandbox.services, default: sandbox.default, directory, signal }
  }

  #enter({ run: { planned, epoch, control } }: SampleLife, phase: Phase): void {
    control.does(phase)
    this.#options.emit({ type: 'sample-phase', ...this.#about, id: planned.id, epoch, phase })
  }

  get #about(): { task: string; eval: string } {
    return { task: this.#options.task.name, eval: this.#options.eval }
  }
}

/** Whether an operator ended a run that had all but a sandbox. */
function isUnbegun({ control, planned }: PlannedRun): boolean {
  return control.action !== undefined && control.state === 'starting' && planned.gate.state !== 'failed'
}
