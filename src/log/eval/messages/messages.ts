import type { AssistantMessage, Message, ToolCall, ToolErrorKind } from '../../../agent/messages.ts'
import type { ModelOutput, StopReason } from '../../../agent/model.ts'
import { textOf } from '../../../sample/content.ts'
import type { ChatMessage, EvalContent, EvalModelOutput } from '../schema/values.ts'
import { fromUsage, toUsage } from '../usage.ts'
import { fromEvalContent, toEvalContent } from './content.ts'

const TOOL_ERROR_TYPES = {
  parsing: 'parsing',
  timeout: 'timeout',
  'not-found': 'file_not_found',
  permission: 'permission',
  'output-limit': 'output_limit',
  'not-approved': 'approval',
  'unknown-tool': 'unknown',
  failed: 'unknown',
} as const satisfies Record<ToolErrorKind, string>

const STOP_REASONS = {
  stop: 'stop',
  'max-tokens': 'max_tokens',
  'context-length': 'model_length',
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
  const content = toEvalContent(message.content)
  switch (message.role) {
    case 'assistant': {
      const { role, model, toolCalls } = message
      const tool_calls = toolCalls?.map(({ id: callId, name, arguments: args, parseError }) => ({
        id: callId,
        function: name,
        arguments: { ...args },
        parse_error: parseError,
        type: 'function',
      }))
      return { id, role, content, model, tool_calls, metadata: callData(toolCalls) }
    }
    case 'tool': {
      const { role, toolCallId, toolName, error } = message
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
      return { id, role: message.role, content }
  }
}

/** What providers want back with calls has no place in Inspect's form of them. */
function callData(calls: readonly ToolCall[] = []) {
  if (calls.every(({ providerData }) => providerData === undefined)) return undefined
  return { belljar: { callData: calls.map(({ providerData }) => providerData ?? null) } }
}

export function fromChatMessage(chat: ChatMessage): Message {
  if (chat.role === 'assistant') return assistantMessage(chat)
  if (chat.role === 'system') return { role: chat.role, content: plainText(chat.content) }
  const content = fromEvalContent(chat.content)
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

function assistantMessage(chat: Pick<ChatMessage, 'content' | 'metadata'> & ChatFacts): AssistantMessage {
  const { tool_calls, model, content, metadata } = chat
  const { callData = [] } = (metadata?.belljar ?? {}) as { callData?: (ToolCall['providerData'] | null)[] }
  const toolCalls = tool_calls?.map(({ id, function: name, arguments: args, parse_error }, index) => {
    const providerData = callData[index]
    return {
      id,
      name,
      arguments: args,
      ...(parse_error ? { parseError: parse_error } : {}),
      ...(providerData ? { providerData } : {}),
    }
  })
  return {
    role: 'assistant',
    content: fromEvalContent(content),
    ...(toolCalls ? { toolCalls } : {}),
    ...(model ? { model } : {}),
  }
}

type ChatFacts = Pick<Extract<ChatMessage, { role: 'assistant' }>, 'tool_calls' | 'model'>

/** Text as it is; media as its kind in brackets. */
export function plainText(content: EvalContent): string {
  if (typeof content === 'string') return content
  return content
    .map((part) => (part.type === 'text' && typeof part.text === 'string' ? part.text : `(${part.type})`))
    .join('\n')
}

export function toModelOutput(
  output: Omit<ModelOutput, 'call'>,
  { model, id }: { model: string; id: string },
): EvalModelOutput {
  const { message, stopReason, usage, durationMs } = output
  return {
    model,
    choices: [{ message: toChatMessage(message, id), stop_reason: STOP_REASONS[stopReason] ?? 'unknown' }],
    completion: textOf(message.content),
    usage: toUsage(usage),
    time: durationMs === undefined ? undefined : durationMs / 1000,
  }
}

export function fromModelOutput(output: EvalModelOutput): ModelOutput | undefined {
  const [choice] = output.choices ?? []
  if (!choice) return undefined
  const { message, stop_reason } = choice
  const stop = Object.entries(STOP_REASONS).find(([, theirs]) => theirs === stop_reason)
  return {
    message: assistantMessage(message as ChatFacts & ChatMessage),
    stopReason: (stop?.[0] as StopReason | undefined) ?? 'unknown',
    usage: fromUsage(output.usage),
    ...(typeof output.time === 'number' ? { durationMs: Math.round(output.time * 1e6) / 1e3 } : {}),
  }
}
