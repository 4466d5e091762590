import type { AgentContext, ModelAccess } from '../../agent/agent.ts'
import { ModelMeter, type RunModels } from '../../agent/model-meter.ts'
import { BelljarError, ConfigError, SandboxUnavailableError } from '../../errors.ts'
import type { Budget } from '../../limit/budget.ts'
import { shownInput } from '../../sample/input.ts'
import type { ReadySample } from '../../sample/sample.ts'
import type { ManagedSandbox } from '../../sandbox/managed-sandbox.ts'
import { type CallDefaults, recordedSandbox } from '../../sandbox/recorded-sandbox.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import type { ScorerContext } from '../../score/scorer.ts'
import { absentSandbox } from './absent-sandbox.ts'
import type { SampleLife } from './sample-life.ts'

export interface AccessOptions {
  readonly sandbox: ManagedSandbox | undefined
  readonly models: RunModels
  /** Of the eval: evals take turns where calls wait. */
  readonly group: string
  readonly budget: Budget
  readonly signal: AbortSignal
  /** Waits while an operator holds the sample. */
  readonly letGo: () => Promise<void>
  readonly callDefaults: CallDefaults
}

/** One for all: to make an error for each costs more than all else that closing does. */
const CLOSED = new BelljarError('sandbox-closed', 'the agent or the scorers have ended')

/** What an agent or the scorers may reach of a sample. Its sandboxes record every call and can be used no longer once it is closed. */
export class SampleAccess {
  readonly #life: SampleLife
  readonly #options: AccessOptions
  readonly #services = new Map<string, Sandbox>()
  /** The first call of each service that it could not serve. */
  readonly #failed = new Map<Sandbox, SandboxUnavailableError>()
  readonly #meter: ModelMeter
  #closed: AbortController | undefined
  #isClosed = false

  constructor(life: SampleLife, options: AccessOptions) {
    this.#life = life
    this.#options = options
    this.#meter = new ModelMeter({
      ...options,
      recorder: life.recorder,
      clock: life.clock,
      epoch: life.run.epoch,
    })
  }

  close(): void {
    this.#isClosed = true
    this.#closed?.abort(CLOSED)
  }

  /**
   * Whoever uses a sandbox may catch what its death threw, and go on as if commands had failed: what comes of that, a
   * result or an error, must not count. One that serves again is not dead.
   * @throws SandboxUnavailableError what was thrown first
   */
  async served<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work()
      await this.#checkAlive()
      return result
    } catch (error) {
      if (!(error instanceof SandboxUnavailableError)) await this.#checkAlive()
      throw error
    }
  }

  async #checkAlive(): Promise<void> {
    const { signal } = this.#options
    for (const [service, error] of this.#failed) {
      const seen = await service.exists('/', { signal }).catch((reason: unknown) => reason)
      if (seen instanceof SandboxUnavailableError) throw error
    }
  }

  agentContext(): AgentContext {
    const { budget, signal } = this.#options
    const { tests: _hidden, ...sample } = this.#sample
    return {
      ...this.#common(),
      sample,
      state: this.#life.state,
      budget,
      transcript: this.#life,
      signal,
    }
  }

  scorerContext(signal: AbortSignal = this.#options.signal): ScorerContext {
    return { ...this.#common(), sample: this.#sample, state: this.#life.state, signal }
  }

  get #sample(): ReadySample {
    const { sample, id } = this.#life.run.planned
    const { content } = this.#life
    return { ...sample, id, input: shownInput(sample.input), content }
  }

  #common(): ModelAccess & { epoch: number; sandbox: Sandbox; service: (name: string) => Sandbox } {
    const meter = this.#meter
    return {
      model: meter.model,
      modelRole: (role) => meter.modelRole(role),
      metered: (model) => meter.metered(model),
      epoch: this.#life.run.epoch,
      sandbox: this.#service('default'),
      service: (name) => this.#service(name),
    }
  }

  #service(name: string): Sandbox {
    const { sandbox } = this.#options
    if (!sandbox) return NO_SANDBOX
    const service = name === 'default' ? sandbox.default : sandbox.services.get(name)
    if (!service)
      throw new ConfigError(
        `there is no service '${name}' (services: ${[...sandbox.services.keys()].join(', ')})`,
      )
    return this.#recorded(service)
  }

  #closedSignal(): AbortSignal {
    this.#closed ??= new AbortController()
    if (this.#isClosed) this.#closed.abort(CLOSED)
    return this.#closed.signal
  }

  #recorded(service: Sandbox): Sandbox {
    let recorded = this.#services.get(service.service)
    if (!recorded) {
      recorded = recordedSandbox(service, {
        ...this.#options.callDefaults,
        record: (event) => this.#life.record(event),
        closed: this.#closedSignal(),
        onUnavailable: (error) => {
          if (!this.#failed.has(service)) this.#failed.set(service, error)
        },
      })
      this.#services.set(service.service, recorded)
    }
    return recorded
  }
}

const NO_SANDBOX = absentSandbox('this task has no sandbox; give it one with `sandbox`')
