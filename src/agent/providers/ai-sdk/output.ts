import type { Content, ContentPart, MediaPart } from '../../../sample/content.ts'
import type { ToolCall } from '../../messages.ts'
import type { ModelOutput, ModelUsage, StopReason } from '../../model.ts'
import { readArguments } from '../tool-arguments.ts'
import type { AiSdkModel, GenerateResult, ProviderData, ResultPart, TokenCounts } from './types.ts'

/** What `doGenerate` returned, in our terms. */
export function fromResult(result: GenerateResult, model: AiSdkModel, name: string): ModelOutput {
  const { content = [], request, response, warnings = [] } = result
  const toolCalls = content.flatMap((part, index) => toolCall(part, index) ?? [])
  return {
    message: {
      role: 'assistant',
      content: contentOf(content),
      ...(toolCalls.length > 0 ? { toolCalls } : {}),
      model: name,
    },
    stopReason: toolCalls.length > 0 ? 'tool-calls' : stopReason(result.finishReason),
    usage: usageOf(result, model),
    call: { request: request?.body, response: response?.body },
    ...(warnings.length > 0 ? { warnings: warnings.map(warningText) } : {}),
  }
}

function contentOf(content: readonly ResultPart[]): Content {
  // What a provider says of a text matters where it follows a thought that it keeps.
  const hasThought = content.some(({ type }) => type === 'reasoning')
  const parts = content.flatMap((part) => contentPart(part, hasThought) ?? [])
  const [first] = parts
  if (first === undefined) return ''
  return parts.length === 1 && first.type === 'text' ? first.text : parts
}

function contentPart(part: ResultPart, hasThought: boolean): ContentPart | undefined {
  const { type, text = '', mediaType = '', data, providerMetadata } = part
  switch (type) {
    case 'text': {
      const own = hasThought && providerMetadata ? { providerData: providerMetadata } : {}
      return text === '' ? undefined : { type, text, ...own }
    }
    case 'reasoning':
      return { type, text, ...reasoningProof(providerMetadata) }
    case 'file': {
      const base64 = base64Of(data)
      return base64 === undefined
        ? undefined
        : ({ type: mediaKind(mediaType), mediaType, data: base64 } as MediaPart)
    }
    default:
      return undefined
  }
}

function reasoningProof(metadata: ProviderData | undefined) {
  if (!metadata) return {}
  const { signature, redactedData } = metadata.anthropic ?? {}
  return {
    ...(typeof signature === 'string' ? { signature } : {}),
    ...(redactedData === undefined ? {} : { redacted: true }),
    providerData: metadata,
  }
}

function mediaKind(mediaType: string): MediaPart['type'] {
  const [kind] = mediaType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}

/** Version 4 wraps what is bytes or base64. */
function base64Of(data: unknown): string | undefined {
  if (typeof data === 'string') return data
  if (data instanceof Uint8Array) return Buffer.from(data).toString('base64')
  return typeof data === 'object' && data !== null && 'data' in data ? base64Of(data.data) : undefined
}

/** Calls that the provider made itself are not the agent's. */
function toolCall(part: ResultPart, index: number): ToolCall | undefined {
  if (part.type !== 'tool-call' || part.providerExecuted) return undefined
  const { toolCallId = `call-${index + 1}`, toolName = '', input, providerMetadata } = part
  return {
    id: toolCallId,
    name: toolName,
    ...readArguments(input),
    ...(providerMetadata ? { providerData: providerMetadata } : {}),
  }
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: 'stop',
  length: 'max-tokens',
  'tool-calls': 'tool-calls',
  'content-filter': 'content-filter',
}

function stopReason(reason: GenerateResult['finishReason']): StopReason {
  const { unified = '', raw } = typeof reason === 'object' ? reason : { unified: reason }
  if (raw === 'model_context_window_exceeded') return 'context-length'
  return STOP_REASONS[unified] ?? 'unknown'
}

function usageOf({ usage = {}, providerMetadata }: GenerateResult, { provider }: AiSdkModel): ModelUsage {
  const { inputTokens, outputTokens } = usage
  if (typeof inputTokens === 'object' || typeof outputTokens === 'object')
    return nestedUsage(inputTokens as TokenCounts | undefined, outputTokens as TokenCounts | undefined)
  const cacheRead = usage.cachedInputTokens
  const { cacheCreationInputTokens } = providerMetadata?.anthropic ?? {}
  const cacheWrite = typeof cacheCreationInputTokens === 'number' ? cacheCreationInputTokens : undefined
  // In version 2 Anthropic's input is without what its cache read and wrote.
  const apart = provider.includes('anthropic') ? (cacheRead ?? 0) + (cacheWrite ?? 0) : 0
  return {
    inputTokens: (inputTokens ?? 0) + apart,
    outputTokens: outputTokens ?? 0,
    ...counts({ cacheRead, cacheWrite, reasoning: usage.reasoningTokens }),
  }
}

function nestedUsage(input: TokenCounts = {}, output: TokenCounts = {}): ModelUsage {
  const { cacheRead, cacheWrite } = input
  return {
    inputTokens: input.total ?? 0,
    outputTokens: output.total ?? 0,
    ...counts({ cacheRead, cacheWrite, reasoning: output.reasoning }),
  }
}

/** Providers without a cache say 0. */
function counts({ cacheRead, cacheWrite, reasoning }: TokenCounts) {
  return {
    ...(cacheRead ? { cacheReadTokens: cacheRead } : {}),
    ...(cacheWrite ? { cacheWriteTokens: cacheWrite } : {}),
    ...(reasoning ? { reasoningTokens: reasoning } : {}),
  }
}

function warningText(warning: Readonly<Record<string, unknown>>): string {
  const { type, feature, setting, details, message } = warning
  return [type, feature ?? setting, details ?? message].filter((text) => typeof text === 'string').join(': ')
}
