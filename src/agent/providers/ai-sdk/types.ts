/** A language model of the Vercel AI SDK, by shape, so that any of its major versions 5, 6 and 7 fits: interface versions 2, 3 and 4. */
export interface AiSdkModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4'
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
}

export type SpecificationVersion = AiSdkModel['specificationVersion']

export type ProviderData = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What `doGenerate` is given, as far as the versions agree. Interface: @ai-sdk/provider 2, 3 and 4, `LanguageModelV2` to `LanguageModelV4`. */
export interface CallOptions {
  readonly prompt: readonly PromptMessage[]
  readonly tools?: readonly unknown[]
  readonly toolChoice?: { readonly type: string; readonly toolName?: string }
  readonly abortSignal?: AbortSignal
  readonly [setting: string]: unknown
}

export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly Part[]
  readonly providerOptions?: ProviderData
}

export type Part = Readonly<Record<string, unknown>> & { readonly type: string }

/** What it returns, as far as we read it; counts are flat in version 2. */
export interface GenerateResult {
  readonly content?: readonly ResultPart[]
  readonly finishReason?: string | { readonly unified?: string; readonly raw?: string }
  readonly usage?: {
    readonly inputTokens?: number | TokenCounts
    readonly outputTokens?: number | TokenCounts
    readonly reasoningTokens?: number
    readonly cachedInputTokens?: number
  }
  readonly providerMetadata?: ProviderData
  readonly request?: { readonly body?: unknown }
  readonly response?: { readonly modelId?: string; readonly body?: unknown }
  readonly warnings?: readonly Readonly<Record<string, unknown>>[]
}

export interface TokenCounts {
  readonly total?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly reasoning?: number
}

export interface ResultPart {
  readonly type: string
  readonly text?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly providerExecuted?: boolean
  readonly mediaType?: string
  readonly data?: unknown
  readonly providerMetadata?: ProviderData
}
