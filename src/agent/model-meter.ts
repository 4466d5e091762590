import { ConfigError, errorMessage, ModelError } from '../errors.ts'
import type { Budget } from '../limit/budget.ts'
import { untilAborted } from '../util/abort.ts'
import { stopwatch } from '../util/clock.ts'
import { linkedController } from '../util/linked-controller.ts'
import type { ModelAccess } from './agent.ts'
import type { Caller, ModelCalls } from './calls/model-calls.ts'
import type { GenerateConfig, Model, ModelOutput, ModelRequest } from './model.ts'
import type { ModelRecorder } from './model-recorder.ts'

/** What a run gives its samples to call. */
export interface RunModels {
  readonly model?: Model
  readonly roles?: Readonly<Record<string, Model>>
  /** Settings of the run and the task. */
  readonly config?: GenerateConfig
  /** How they are called; samples of a run share it. */
  readonly calls: ModelCalls
}

export interface ModelMeterOptions extends Pick<Caller, 'epoch' | 'group' | 'clock'> {
  readonly models: RunModels
  readonly budget: Budget
  readonly recorder: ModelRecorder
  /** Ends every call. */
  readonly signal: AbortSignal
  /** Waits while the sample is held. */
  readonly letGo?: () => Promise<void>
}

/** The models of a run for one sample: every call is checked against its budget, counted once and recorded. */
export class ModelMeter implements ModelAccess {
  readonly #options: ModelMeterOptions
  readonly #metered = new WeakSet<Model>([NO_MODEL])

  constructor(options: ModelMeterOptions) {
    this.#options = options
  }

  get model(): Model {
    return this.metered(this.#options.models.model ?? NO_MODEL)
  }

  modelRole(role: string): Model {
    const { model = NO_MODEL, roles = {} } = this.#options.models
    return this.metered((Object.hasOwn(roles, role) ? roles[role] : undefined) ?? model, role)
  }

  metered(model: Model, role?: string): Model {
    if (this.#metered.has(model)) return model
    const { name, connectionKey, baseUrl, args } = model
    const generate = (request: ModelRequest) => this.#generate(model, request, role)
    const metered: Model = { name, connectionKey, baseUrl, args, generate }
    this.#metered.add(metered)
    return metered
  }

  async #generate(model: Model, given: ModelRequest, role: string | undefined): Promise<ModelOutput> {
    const { models, budget, recorder, signal, letGo } = this.#options
    using ending = linkedController(signal, given.signal)
    ending.signal.throwIfAborted()
    if (letGo) await untilAborted(letGo(), ending.signal)
    budget.startTurn(given.messages.length)
    const request = { ...given, config: { ...models.config, ...given.config }, signal: ending.signal }
    const time = stopwatch()
    const facts = () => ({ ...time(), model: model.name, role })
    try {
      const answer = await models.calls.call(model, request, this.#caller(model, role))
      const { call, ...output } = withCost(answer, model.name, budget)
      if (output.cache !== 'read') budget.add(output.usage)
      recorder.record({ ...facts(), output }, request, call)
      return { ...output, call }
    } catch (error) {
      const call = error instanceof ModelError ? error.call : undefined
      recorder.record({ ...facts(), error: errorMessage(error) }, request, call)
      throw error
    }
  }

  #caller({ name }: Model, role: string | undefined): Caller {
    const { epoch, group, clock, budget, recorder } = this.#options
    return {
      epoch,
      group,
      clock,
      check: () => budget.check(),
      onRetry: (event) => recorder.retry({ ...event, model: name, role }),
    }
  }
}

function withCost(output: ModelOutput, model: string, budget: Budget): ModelOutput {
  const cost = output.cache === 'read' ? 0 : budget.costOf(model, output.usage)
  return cost === undefined ? output : { ...output, usage: { ...output.usage, cost } }
}

const NO_MODEL: Model = {
  name: 'none',
  generate: async () => {
    throw new ConfigError('this run has no model: pass one as `model`, or use an agent that needs none')
  },
}
