import type { AssistantMessage, Message } from './messages.ts'

/** A language model: one call, no retries of its own making visible to the caller. */
export interface Model {
  /** Such as `openai/gpt-5` or `scripted`. */
  readonly name: string
  generate(request: ModelRequest): Promise<ModelOutput>
}

export interface ModelRequest {
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDescription[]
  readonly toolChoice?: 'auto' | 'any' | 'none' | { readonly name: string }
  readonly config?: GenerateConfig
  readonly signal?: AbortSignal
}

export interface ToolDescription {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface GenerateConfig {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly seed?: number
  readonly stopSequences?: readonly string[]
}

export type StopReason = 'stop' | 'max-tokens' | 'tool-calls' | 'content-filter' | 'unknown'

export interface ModelOutput {
  readonly message: AssistantMessage
  readonly stopReason: StopReason
  readonly usage: ModelUsage
}

/** Tokens of one call or of many. */
export interface ModelUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
}
