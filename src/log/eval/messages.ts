import type { AssistantMessage, Message, ToolErrorKind } from '../../agent/messages.ts'
import type { ModelOutput, ModelUsage, StopReason } from '../../agent/model.ts'
import type { ChatMessage, EvalContent, EvalModelOutput, EvalUsage } from './schema/values.ts'

const TOOL_ERROR_TYPES = {
  parsing: 'parsing',
  timeout: 'timeout',
  'not-found': 'file_not_found',
  permission: 'permission',
  'output-limit': 'output_limit',
  'unknown-tool': 'unknown',
  failed: 'unknown',
} as const satisfies Record<ToolErrorKind, string>

const STOP_REASONS = {
  stop: 'stop',
  'max-tokens': 'max_tokens',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  unknown: 'unknown',
} as const satisfies Record<StopReason, string>

export function toToolError({ kind, message }: { kind: ToolErrorKind; message: string }) {
  return { type: TOOL_ERROR_TYPES[kind] ?? 'unknown', message }
}

export function fromToolErrorType(type: string): ToolErrorKind {
  const found = Object.entries(TOOL_ERROR_TYPES).find(([, theirs]) => theirs === type)
  return (found?.[0] as ToolErrorKind | undefined) ?? 'failed'
}

export function toChatMessage(message: Message, id: string): ChatMessage {
  switch (message.role) {
    case 'assistant': {
      const { role, content, model, toolCalls } = message
      const tool_calls = toolCalls?.map(({ id: callId, name, arguments: args, parseError }) => ({
        id: callId,
        function: name,
        arguments: { ...args },
        parse_error: parseError,
        type: 'function',
      }))
      return { id, role, content, model, tool_calls }
    }
    case 'tool': {
      const { role, content, toolCallId, toolName, error } = message
      const metadata = error && { belljar: { errorKind: error.kind } }
      return {
        id,
        role,
        content,
        tool_call_id: toolCallId,
        function: toolName,
        error: error && toToolError(error),
        metadata,
      }
    }
    default:
      return { id, role: message.role, content: message.content }
  }
}

export function fromChatMessage(chat: ChatMessage): Message {
  const content = plainText(chat.content)
  if (chat.role === 'assistant') return assistantMessage(chat, content)
  if (chat.role !== 'tool') return { role: chat.role, content }
  const message = {
    role: chat.role,
    content,
    toolCallId: chat.tool_call_id ?? '',
    toolName: chat.function ?? '',
  }
  if (!chat.error) return message
  const { errorKind } = (chat.metadata?.belljar ?? {}) as { errorKind?: ToolErrorKind }
  const kind = errorKind ?? fromToolErrorType(chat.error.type)
  return { ...message, error: { kind, message: chat.error.message } }
}

function assistantMessage(
  { tool_calls, model }: Extract<ChatMessage, { role: 'assistant' }>,
  content: string,
): AssistantMessage {
  const toolCalls = tool_calls?.map(({ id, function: name, arguments: args, parse_error }) => ({
    id,
    name,
    arguments: args,
    ...(parse_error ? { parseError: parse_error } : {}),
  }))
  return { role: 'assistant', content, ...(toolCalls ? { toolCalls } : {}), ...(model ? { model } : {}) }
}

/** Text as it is; media as its kind in brackets. */
export function plainText(content: EvalContent): string {
  if (typeof content === 'string') return content
  return content
    .map((part) => (part.type === 'text' && typeof part.text === 'string' ? part.text : `(${part.type})`))
    .join('\n')
}

export function toModelOutput(output: ModelOutput, model: string, id: string): EvalModelOutput {
  const { message, stopReason, usage } = output
  return {
    model,
    choices: [{ message: toChatMessage(message, id), stop_reason: STOP_REASONS[stopReason] ?? 'unknown' }],
    completion: message.content,
    usage: toUsage(usage),
  }
}

export function fromModelOutput(output: EvalModelOutput): ModelOutput | undefined {
  const [choice] = output.choices ?? []
  if (!choice) return undefined
  const { message, stop_reason } = choice
  const stop = Object.entries(STOP_REASONS).find(([, theirs]) => theirs === stop_reason)
  const said = message.role === 'assistant' ? message : { ...message, role: 'assistant' as const }
  return {
    message: assistantMessage(
      said as Extract<ChatMessage, { role: 'assistant' }>,
      plainText(message.content),
    ),
    stopReason: (stop?.[0] as StopReason | undefined) ?? 'unknown',
    usage: fromUsage(output.usage),
  }
}

export function toUsage(usage: Readonly<Record<string, number>> | ModelUsage): EvalUsage {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_cache_write: cacheWriteTokens,
    input_tokens_cache_read: cacheReadTokens,
    reasoning_tokens: reasoningTokens,
  }
}

export function fromUsage(usage: EvalUsage | null | undefined): ModelUsage {
  const counts = {
    cacheReadTokens: usage?.input_tokens_cache_read ?? undefined,
    cacheWriteTokens: usage?.input_tokens_cache_write ?? undefined,
    reasoningTokens: usage?.reasoning_tokens ?? undefined,
  }
  const known = Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined))
  return { inputTokens: usage?.input_tokens ?? 0, outputTokens: usage?.output_tokens ?? 0, ...known }
}
