import type { AssistantMessage, Message } from './messages.ts'

/** A language model: one call is one request, without retries of its own. */
export interface Model {
  /** Such as `openai/gpt-5` or `scripted`; what usage, prices and logs go by. */
  readonly name: string
  /** What calls share a connection limit (default: the name), such as one model at two addresses. */
  readonly connectionKey?: string
  /** Where it is reached, for the log. */
  readonly baseUrl?: string
  /** What it was made with, for the log and the cache: no secrets. */
  readonly args?: Readonly<Record<string, unknown>>
  /** @throws ModelError, whose `transient` says whether the same call may pass later; the signal's reason */
  generate(request: ModelRequest): Promise<ModelOutput>
}

export interface ModelRequest {
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDescription[]
  /** `any`: some tool must be called (default `auto`). */
  readonly toolChoice?: ToolChoice
  readonly config?: GenerateConfig
  readonly signal?: AbortSignal
}

export type ToolChoice = 'auto' | 'any' | 'none' | { readonly name: string }

export interface ToolDescription {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'

/** Settings of a call. Those of a run take the place of the task's, those of a call of both, one by one; what is left out is the provider's choice. */
export interface GenerateConfig {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly seed?: number
  readonly stopSequences?: readonly string[]
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  readonly reasoningEffort?: ReasoningEffort
  /** How many tokens a model may think, where the provider counts them so. */
  readonly reasoningTokens?: number
  /** false: one tool call a turn, where the provider lets one choose. */
  readonly parallelToolCalls?: boolean
  /** JSON Schema that the answer's text must fit. */
  readonly responseSchema?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> }
  /** By provider, as the AI SDK names its options. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Whether the provider is told to cache the conversation, where it must be told (default: with tools). */
  readonly cachePrompt?: boolean
  /** Further attempts after an error that may pass (default 10). */
  readonly maxRetries?: number
  /** Deadline of one attempt in milliseconds (default 1,800,000). */
  readonly attemptTimeoutMs?: number
  /** Whether an answer may come from the run's cache and go into it, where the run has one (default true). */
  readonly cache?: boolean
}

export type StopReason =
  | 'stop'
  | 'max-tokens'
  /** The conversation fills what the model can hold. */
  | 'context-length'
  | 'tool-calls'
  | 'content-filter'
  | 'unknown'

export interface ModelOutput {
  readonly message: AssistantMessage
  readonly stopReason: StopReason
  readonly usage: ModelUsage
  readonly call?: RawCall
  /** What the provider says that it left out or did otherwise. */
  readonly warnings?: readonly string[]
  /** Milliseconds of the attempt that gave the answer. */
  readonly durationMs?: number
  /** Attempts that failed before it. */
  readonly retries?: number
  /** Whether the answer was read from the run's cache (it then costs nothing) or written to it. */
  readonly cache?: 'read' | 'write'
}

/** A call as the provider's API has it: bodies without headers. */
export interface RawCall {
  readonly request: unknown
  readonly response?: unknown
}

/** Tokens of one call or of many. Input includes what was read from and written to the provider's cache, output includes reasoning. */
export interface ModelUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
  /** In the unit of the run's prices; absent where they do not name the model. */
  readonly cost?: number
}

export function isModel(value: unknown): value is Model {
  const { name, generate } = (value ?? {}) as Partial<Model>
  return typeof name === 'string' && typeof generate === 'function'
}
