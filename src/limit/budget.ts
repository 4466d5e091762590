import { LimitExceededError } from '../errors.ts'

/** What one sample may spend. Times in milliseconds; absent means without limit. */
export interface SampleLimits {
  /** Wall-clock time of the agent; reached, its signal is aborted and its commands are killed. */
  readonly timeMs?: number
  /** Time of the agent without what it waited for: other samples, an operator's pause. */
  readonly workingMs?: number
  readonly messages?: number
  readonly turns?: number
  /** Input and output tokens together. */
  readonly tokens?: number
  readonly outputTokens?: number
  /** In the unit of the run's prices. */
  readonly cost?: number
}

/** Tokens of one model call. */
export interface TokenUse {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** What tokens of a model cost, per million. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
}

export type Prices = Readonly<Record<string, ModelPrice>>

const MILLION = 1_000_000

/**
 * Counts what a sample spends; each count throws LimitExceededError when it goes over. Limits are read at each check, so the object that
 * holds them may change.
 */
export class Budget {
  readonly #limits: SampleLimits
  readonly #prices: Prices
  #turns = 0
  #tokens = 0
  #outputTokens = 0
  #cost = 0

  constructor(limits: SampleLimits = {}, prices: Prices = {}) {
    this.#limits = limits
    this.#prices = prices
  }

  get turns(): number {
    return this.#turns
  }

  get tokens(): number {
    return this.#tokens
  }

  get outputTokens(): number {
    return this.#outputTokens
  }

  get cost(): number {
    return this.#cost
  }

  /** Before a model call, with the number of messages so far. @throws LimitExceededError */
  startTurn(messages: number): void {
    const { messages: maxMessages, turns: maxTurns } = this.#limits
    if (maxMessages !== undefined && messages >= maxMessages)
      throw new LimitExceededError({ type: 'message', limit: maxMessages })
    if (maxTurns !== undefined && this.#turns >= maxTurns)
      throw new LimitExceededError({ type: 'turn', limit: maxTurns })
    this.#checkSpent()
    this.#turns++
  }

  /** After a model call. @throws LimitExceededError */
  useModel(model: string, { inputTokens, outputTokens }: TokenUse): void {
    const price = Object.hasOwn(this.#prices, model) ? this.#prices[model] : undefined
    if (price) this.#cost += (inputTokens * price.input + outputTokens * price.output) / MILLION
    this.#outputTokens += outputTokens
    this.useTokens(inputTokens + outputTokens)
  }

  /** Tokens that were spent otherwise. @throws LimitExceededError */
  useTokens(count: number): void {
    this.#tokens += count
    this.#checkSpent()
  }

  #checkSpent(): void {
    const { tokens, outputTokens, cost } = this.#limits
    if (tokens !== undefined && this.#tokens > tokens)
      throw new LimitExceededError({ type: 'token', limit: tokens })
    if (outputTokens !== undefined && this.#outputTokens > outputTokens)
      throw new LimitExceededError({ type: 'output-token', limit: outputTokens })
    if (cost !== undefined && this.#cost > cost) throw new LimitExceededError({ type: 'cost', limit: cost })
  }
}
