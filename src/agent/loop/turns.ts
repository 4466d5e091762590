import { ModelError } from '../../errors.ts'
import { textOf } from '../../sample/content.ts'
import type { AgentContext } from '../agent.ts'
import type { AssistantMessage } from '../messages.ts'
import type { Model, ModelOutput, ModelRequest } from '../model.ts'
import type { Compaction } from './compaction.ts'

export interface TurnOptions {
  readonly compaction?: Compaction | undefined
  /** After a call that used more, the conversation is made shorter before the next one. */
  readonly maxContextTokens?: number | undefined
}

const MOST_COMPACTIONS = 4

/** Asks one model again and again about the conversation of an agent's state. */
export class Turns {
  readonly #model: Model
  readonly #context: AgentContext
  readonly #options: TurnOptions
  #isLong = false

  constructor(model: Model, context: AgentContext, options: TurnOptions = {}) {
    this.#model = context.metered(model)
    this.#context = context
    this.#options = options
  }

  /** One turn: the answer is in the state when this returns or throws a limit that it reached. @throws LimitExceededError, what the model throws */
  async next(request: Pick<ModelRequest, 'tools' | 'toolChoice' | 'config'>): Promise<AssistantMessage> {
    const { state, budget } = this.#context
    if (this.#isLong) await this.#compact()
    const { message, usage } = await this.#generate(request)
    state.messages.push(message)
    state.output = textOf(message.content)
    const { maxContextTokens = Number.POSITIVE_INFINITY } = this.#options
    this.#isLong = usage.inputTokens + usage.outputTokens > maxContextTokens
    budget.check()
    return message
  }

  async #generate(request: Pick<ModelRequest, 'tools' | 'toolChoice' | 'config'>): Promise<ModelOutput> {
    const { state, signal } = this.#context
    for (let compactions = 0; ; compactions++) {
      const tooLong = await this.#model.generate({ ...request, messages: [...state.messages], signal }).then(
        (output) => (output.stopReason === 'context-length' ? { output } : output),
        (error: unknown) => {
          if (error instanceof ModelError && error.kind === 'context-length') return { error }
          throw error
        },
      )
      if ('message' in tooLong) return tooLong
      if (compactions < MOST_COMPACTIONS && (await this.#compact())) continue
      if ('output' in tooLong) return tooLong.output
      throw tooLong.error
    }
  }

  /** Whether it has become shorter. */
  async #compact(): Promise<boolean> {
    const { state, transcript } = this.#context
    const { compaction } = this.#options
    const before = state.messages.length
    const parts = { model: this.#model, context: this.#context }
    const compacted = await compaction?.compact(state.messages, parts)
    this.#isLong = false
    if (!compacted || compacted.length >= before) return false
    state.messages.splice(0, before, ...compacted)
    const data = { by: compaction?.name, messagesBefore: before, messagesAfter: compacted.length }
    transcript.record({ type: 'info', startedMs: Date.now(), source: 'compaction', data })
    return true
  }
}
