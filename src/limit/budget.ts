import { LimitExceededError } from '../errors.ts'

/** What one sample may spend. Times in milliseconds; absent means without limit. */
export interface SampleLimits {
  /** Wall-clock time of the agent; reached, its signal is aborted and its commands are killed. */
  readonly timeMs?: number
  readonly messages?: number
  readonly turns?: number
  readonly tokens?: number
}

/** Counts what a sample spends; each count throws LimitExceededError when it goes over. */
export class Budget {
  readonly #limits: SampleLimits
  #turns = 0
  #tokens = 0

  constructor(limits: SampleLimits = {}) {
    this.#limits = limits
  }

  get turns(): number {
    return this.#turns
  }

  get tokens(): number {
    return this.#tokens
  }

  /** Before a model call, with the number of messages so far. @throws LimitExceededError */
  startTurn(messages: number): void {
    const { messages: maxMessages, turns: maxTurns, tokens: maxTokens } = this.#limits
    if (maxMessages !== undefined && messages >= maxMessages)
      throw new LimitExceededError({ type: 'message', limit: maxMessages })
    if (maxTurns !== undefined && this.#turns >= maxTurns)
      throw new LimitExceededError({ type: 'turn', limit: maxTurns })
    if (maxTokens !== undefined && this.#tokens > maxTokens)
      throw new LimitExceededError({ type: 'token', limit: maxTokens })
    this.#turns++
  }

  /** After a model call. @throws LimitExceededError */
  useTokens(count: number): void {
    this.#tokens += count
    const { tokens } = this.#limits
    if (tokens !== undefined && this.#tokens > tokens)
      throw new LimitExceededError({ type: 'token', limit: tokens })
  }
}
