import { errorMessage } from '../errors.ts'
import type { AgentContext } from './agent.ts'
import type { AssistantMessage } from './messages.ts'
import type { Model, ModelOutput, ModelRequest } from './model.ts'

/** Asks one model again and again about a growing conversation; what was recorded once is not recorded again. */
export class ModelCaller {
  readonly #model: Model
  readonly #context: AgentContext
  #recordedMessages = 0

  constructor(model: Model, context: AgentContext) {
    this.#model = model
    this.#context = context
  }

  /** One turn: the answer is in the state, recorded and counted when this returns or throws. @throws LimitExceededError, what the model throws */
  async generate(request: Pick<ModelRequest, 'tools' | 'config'>): Promise<AssistantMessage> {
    const { state, budget, signal } = this.#context
    signal.throwIfAborted()
    budget.startTurn(state.messages.length)
    const { message, usage } = await this.#recordedCall({ ...request, messages: [...state.messages], signal })
    state.messages.push(message)
    state.output = message.content
    budget.useModel(this.#model.name, usage)
    return message
  }

  async #recordedCall(request: ModelRequest): Promise<ModelOutput> {
    const startedMs = Date.now()
    const inputFrom = this.#recordedMessages
    const input = request.messages.slice(inputFrom)
    this.#recordedMessages = request.messages.length
    const record = (result: { output?: ModelOutput; error?: string }) =>
      this.#context.transcript.record({
        type: 'model-output',
        startedMs,
        durationMs: Date.now() - startedMs,
        model: this.#model.name,
        inputFrom,
        input,
        ...result,
      })
    try {
      const output = await this.#model.generate(request)
      record({ output })
      return output
    } catch (error) {
      record({ error: errorMessage(error) })
      throw error
    }
  }
}
