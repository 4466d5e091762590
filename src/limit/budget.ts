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

/** Tokens of one model call. Input includes what was read from and written to the provider's cache. */
export interface TokenUse {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  /** Default: none. */
  readonly cost?: number
}

/** What tokens of a model cost, per million. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  /** Of input that the provider read from its cache (default: as other input). */
  readonly cacheRead?: number
  /** Of input that the provider wrote to its cache (default: as other input). */
  readonly cacheWrite?: number
}

export type Prices = Readonly<Record<string, ModelPrice>>

const MILLION = 1_000_000

/**
 * Counts what a sample spends. A check throws LimitExceededError when it is over a limit: each model call is checked before it is sent, so
 * calls made at once overshoot by no more than what they use themselves. Limits are read at each check, so the object that holds them may
 * change.
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
    this.check()
    this.#turns++
  }

  /** What a call costs; undefined where there is no price for the model. */
  costOf(model: string, use: TokenUse): number | undefined {
    const price = Object.hasOwn(this.#prices, model) ? this.#prices[model] : undefined
    if (!price) return undefined
    const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = use
    const { input, output, cacheRead = input, cacheWrite = input } = price
    const uncached = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
    const inputCost = uncached * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite
    return (inputCost + outputTokens * output) / MILLION
  }

  /** Counts a model call that was made, whatever the limits: it has been spent. */
  add({ inputTokens, outputTokens, cost = 0 }: TokenUse): void {
    this.#tokens += inputTokens + outputTokens
    this.#outputTokens += outputTokens
    this.#cost += cost
  }

  /** Tokens that were spent otherwise. @throws LimitExceededError */
  useTokens(count: number): void {
    this.#tokens += count
    this.check()
  }

  /** @throws LimitExceededError when more was spent than may be */
  check(): void {
    const { tokens, outputTokens, cost } = this.#limits
    if (tokens !== undefined && this.#tokens > tokens)
      throw new LimitExceededError({ type: 'token', limit: tokens })
    if (outputTokens !== undefined && this.#outputTokens > outputTokens)
      throw new LimitExceededError({ type: 'output-token', limit: outputTokens })
    if (cost !== undefined && this.#cost > cost) throw new LimitExceededError({ type: 'cost', limit: cost })
  }
}
