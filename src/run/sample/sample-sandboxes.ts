import type { SandboxIdentity } from '../../sample/identity.ts'
import type { ManagedSandbox } from '../../sandbox/managed-sandbox.ts'
import type { SandboxReport } from '../../sandbox/provider.ts'
import { untilAborted } from '../../util/abort.ts'
import { stopwatch } from '../../util/clock.ts'
import { linkedController } from '../../util/linked-controller.ts'
import type { GateSandbox } from '../config/config-gate.ts'
import type { PlannedRun } from '../dispatch/planned-sample.ts'
import type { Phase } from '../run-event.ts'
import { PhaseError } from './phases.ts'
import type { SampleLife } from './sample-life.ts'
import type { SampleRunnerOptions } from './sample-runner.ts'
import { SampleServiceLogs } from './service-logs.ts'

interface Parts {
  readonly life: SampleLife
  readonly options: SampleRunnerOptions
  /** Aborted when the eval or this run ends without being scored. */
  readonly signal: AbortSignal
  readonly enter: (phase: Phase) => void
}

/** The sandboxes of one attempt: that of its agent, and after it that of its verifier. There are never both. */
export class SampleSandboxes {
  readonly #parts: Parts
  readonly #logs: SampleServiceLogs
  #current: ManagedSandbox | undefined
  #part: 'verifier' | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#logs = new SampleServiceLogs(parts.options)
  }

  get current(): ManagedSandbox | undefined {
    return this.#current
  }

  async startAgents(): Promise<void> {
    const { gate } = this.#run.planned
    if (gate.state === 'failed') throw new PhaseError('config', gate.error)
    if (gate.sandbox) this.#current = await this.#start(gate.sandbox)
    else this.#run.control.state = 'working'
  }

  /** Waits for the slot of the verifier's only when nothing is left of the agent's: samples that hold one never wait for another. */
  async startVerifiers(verifier: GateSandbox): Promise<void> {
    const gone = this.end()
    this.#current = undefined
    await untilAborted(gone, this.#parts.signal)
    this.#part = 'verifier'
    this.#current = await this.#start(verifier)
  }

  /** Resolves when the sandbox is removed, whatever that met. */
  async end(): Promise<void> {
    const { life, options } = this.#parts
    const sandbox = this.#current
    if (!sandbox) return
    if (life.failed && !options.signal.aborted) sandbox.markFailed()
    const owner = { run: this.#run, part: this.#part }
    if (this.#logs.isKept(life)) sandbox.beforeRemoval(() => this.#logs.keepOf(sandbox, owner))
    const report = await sandbox.remove()
    options.removed(this.#run)
    for (const { kind, name, reason } of report.left)
      options.warn(`${kind} ${name} was not removed: ${reason}`, this.#run)
  }

  get #run(): PlannedRun {
    return this.#parts.life.run
  }

  async #start(gate: GateSandbox): Promise<ManagedSandbox> {
    const { life, options, signal, enter } = this.#parts
    const { control } = this.#run
    const isVerifiers = this.#part !== undefined
    let time = stopwatch()
    enter('wait')
    const unblock = options.blocked(this.#run)
    using waiting = linkedController(signal)
    // To be scored, what has no slot yet has not begun; what has one goes on until its agent would begin.
    const giveUp = () => waiting.abort(control.agentSignal.reason)
    if (!isVerifiers) control.agentSignal.addEventListener('abort', giveUp, { once: true })
    const onSlot = () => {
      control.agentSignal.removeEventListener('abort', giveUp)
      unblock()
      options.up(this.#run)
      control.state = isVerifiers ? 'scoring' : 'working'
      life.spent('wait', time())
      time = stopwatch()
      enter('start')
    }
    try {
      return await this.#manage(gate, { onSlot, signal: waiting.signal })
    } catch (error) {
      throw new PhaseError('sandbox', error)
    } finally {
      unblock()
      life.spent('start', time())
    }
  }

  #manage(
    { provider, initialised }: GateSandbox,
    start: { onSlot: () => void; signal: AbortSignal },
  ): Promise<ManagedSandbox> {
    const { options } = this.#parts
    const report = ({ kind, message }: SandboxReport) => {
      if (kind === 'warning') options.warn(message, this.#run)
    }
    return options.manager.start(provider, initialised.config, {
      identity: this.#identity(),
      group: options.eval,
      onGone: () => options.removed(this.#run),
      report,
      onServiceLogs: this.#logs.ofFailedStart({ run: this.#run, part: this.#part }),
      ...start,
    })
  }

  #identity(): SandboxIdentity {
    const { run, eval: evalId, task, secrets } = this.#parts.options
    const { planned, epoch, attempt } = this.#run
    return {
      run,
      eval: evalId,
      task: secrets.text(task.name),
      sample: secrets.text(String(planned.id)),
      epoch,
      attempt,
      ...(this.#part && { part: this.#part }),
    }
  }
}
