import { textOf } from '../sample/content.ts'
import type { AgentContext } from './agent.ts'
import type { AssistantMessage } from './messages.ts'
import type { Model, ModelRequest } from './model.ts'

/** Asks one model again and again about the conversation of an agent's state. */
export class ModelCaller {
  readonly #model: Model
  readonly #context: AgentContext

  constructor(model: Model, context: AgentContext) {
    this.#model = context.metered(model)
    this.#context = context
  }

  /** One turn: the answer is in the state when this returns or throws a limit that it reached. @throws LimitExceededError, what the model throws */
  async generate(request: Pick<ModelRequest, 'tools' | 'toolChoice' | 'config'>): Promise<AssistantMessage> {
    const { state, budget, signal } = this.#context
    const { message } = await this.#model.generate({ ...request, messages: [...state.messages], signal })
    state.messages.push(message)
    state.output = textOf(message.content)
    budget.check()
    return message
  }
}
