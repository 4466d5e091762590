import { z } from 'zod'
import { type ContentPart, textOf } from '../../../sample/content.ts'
import type { ToolCall } from '../../messages.ts'
import type { GenerateConfig, ModelOutput, ModelUsage, StopReason, ToolChoice } from '../../model.ts'
import { answerOf } from './answer.ts'
import { type Api, type ApiCall, ApiError, type ApiEvent } from './api.ts'
import {
  Conversation,
  contentOf,
  jsonObject,
  mediaFromType,
  newId,
  optional,
  parseBody,
  textParts,
} from './parse.ts'

const source = z.discriminatedUnion('type', [
  z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
  z.object({ type: z.literal('text'), media_type: z.string(), data: z.string() }),
  z.object({ type: z.literal('url'), url: z.string() }),
])
const shown = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), source }),
  z.object({ type: z.literal('document'), source }),
])
const block = z.discriminatedUnion('type', [
  ...shown.options,
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: optional(z.string()) }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: jsonObject }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: optional(z.union([z.string(), z.array(shown)])),
    is_error: optional(z.boolean()),
  }),
])
type Block = z.output<typeof block>

const schema = z.object({
  model: z.string(),
  system: optional(z.union([z.string(), z.array(z.object({ text: z.string() }))])),
  messages: z
    .array(
      z.object({
        role: z.enum(['user', 'assistant', 'system']),
        content: z.union([z.string(), z.array(block)]),
      }),
    )
    .min(1),
  tools: optional(
    z.array(
      z.object({
        type: optional(z.string()),
        name: z.string(),
        description: optional(z.string()),
        input_schema: optional(jsonObject),
      }),
    ),
  ),
  tool_choice: optional(
    z.object({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: optional(z.string()),
      disable_parallel_tool_use: optional(z.boolean()),
    }),
  ),
  stream: optional(z.boolean()),
  max_tokens: optional(z.number()),
  temperature: optional(z.number()),
  top_p: optional(z.number()),
  top_k: optional(z.number()),
  stop_sequences: optional(z.array(z.string())),
  thinking: optional(z.object({ type: z.string(), budget_tokens: optional(z.number()) })),
})
type Body = z.output<typeof schema>

/** Anthropic's messages: https://docs.anthropic.com/en/api/messages */
export const anthropicMessages: Api = {
  parse(given): ApiCall {
    const body = parseBody(schema, given)
    const tools = body.tools ?? []
    return {
      model: body.model,
      stream: body.stream ?? false,
      ignored: tools.flatMap((tool) => (tool.input_schema ? [] : [`tool of type ${tool.type ?? tool.name}`])),
      request: {
        messages: conversation(body).messages,
        tools: tools.flatMap(({ name, description, input_schema: parameters }) =>
          parameters ? [{ name, description: description ?? '', parameters }] : [],
        ),
        toolChoice: toolChoice(body.tool_choice),
        config: config(body),
      },
    }
  },

  render(output, call) {
    return {
      ...head(call),
      content: blocks(output),
      stop_reason: STOP[output.stopReason],
      stop_sequence: null,
      usage: usage(output.usage),
    }
  },

  *events(output, call) {
    const started = { ...head(call), content: [], stop_reason: null, stop_sequence: null }
    yield event('message_start', {
      message: { ...started, usage: { ...usage(output.usage), output_tokens: 0 } },
    })
    for (const [index, one] of blocks(output).entries()) {
      const { start, deltas } = streamed(one)
      yield event('content_block_start', { index, content_block: start })
      for (const delta of deltas) yield event('content_block_delta', { index, delta })
      yield event('content_block_stop', { index })
    }
    yield event('message_delta', {
      delta: { stop_reason: STOP[output.stopReason], stop_sequence: null },
      usage: usage(output.usage),
    })
    yield event('message_stop', {})
  },

  error: ({ status, message }) => ({ type: 'error', error: { type: errorType(status), message } }),
}

function event(type: string, fields: object): ApiEvent {
  return { event: type, data: { type, ...fields } }
}

function errorType(status: number): string {
  const types: Readonly<Record<number, string>> = {
    403: 'permission_error',
    404: 'not_found_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
  }
  return types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
}

const STOP: Readonly<Record<StopReason, string>> = {
  stop: 'end_turn',
  'max-tokens': 'max_tokens',
  'context-length': 'model_context_window_exceeded',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  unknown: 'end_turn',
}

function head({ model }: ApiCall) {
  return { id: newId('msg'), type: 'message', role: 'assistant', model }
}

type AnswerBlock =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }

function blocks(output: ModelOutput): AnswerBlock[] {
  const { reasoning, text, toolCalls } = answerOf(output)
  return [
    ...reasoning.map(
      (part): AnswerBlock =>
        part.redacted
          ? { type: 'redacted_thinking', data: part.text }
          : { type: 'thinking', thinking: part.text, signature: part.signature ?? '' },
    ),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map(({ id, name, arguments: input }) => ({ type: 'tool_use' as const, id, name, input })),
  ]
}

function streamed(one: AnswerBlock): { start: unknown; deltas: readonly unknown[] } {
  if (one.type === 'text')
    return { start: { ...one, text: '' }, deltas: [{ type: 'text_delta', text: one.text }] }
  if (one.type === 'tool_use') {
    const partial = JSON.stringify(one.input)
    return { start: { ...one, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: partial }] }
  }
  if (one.type === 'redacted_thinking') return { start: one, deltas: [] }
  const deltas = [
    { type: 'thinking_delta', thinking: one.thinking },
    { type: 'signature_delta', signature: one.signature },
  ]
  return { start: { type: 'thinking', thinking: '', signature: '' }, deltas }
}

function conversation({ system, messages }: Body): Conversation {
  const result = new Conversation()
  const said = typeof system === 'string' ? system : system?.map(({ text }) => text).join('\n')
  if (said) result.add({ role: 'system', content: said })
  for (const { role, content } of messages) {
    const given: readonly Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    if (role === 'assistant') addAnswer(result, given)
    else if (role === 'system') result.add({ role, content: textOf(given.flatMap(partsOf)) })
    else addUser(result, given)
  }
  return result
}

/** Results of tools come in a user's message, before what the user says. */
function addUser(result: Conversation, given: readonly Block[]): void {
  for (const one of given)
    if (one.type === 'tool_result') {
      const parts =
        typeof one.content === 'string' ? textParts(one.content) : (one.content ?? []).flatMap(partsOf)
      result.addResult(one.tool_use_id, contentOf(parts), one.is_error)
    }
  const parts = given.flatMap(partsOf)
  if (parts.length > 0) result.add({ role: 'user', content: contentOf(parts) })
}

function addAnswer(result: Conversation, given: readonly Block[]): void {
  const toolCalls = given.flatMap((one): ToolCall[] =>
    one.type === 'tool_use' ? [{ id: one.id, name: one.name, arguments: one.input }] : [],
  )
  result.add({
    role: 'assistant',
    content: contentOf(given.flatMap(partsOf)),
    ...(toolCalls.length > 0 && { toolCalls }),
  })
}

function partsOf(one: Block): ContentPart[] {
  if (one.type === 'text') return textParts(one.text)
  if (one.type === 'thinking') return [{ type: 'reasoning', text: one.thinking, signature: one.signature }]
  if (one.type === 'redacted_thinking') return [{ type: 'reasoning', text: one.data, redacted: true }]
  if (one.type !== 'image' && one.type !== 'document') return []
  if (one.source.type === 'url')
    throw new ApiError(400, `a ${one.type} can only be given as data, not by its address`)
  if (one.source.type === 'text') return textParts(one.source.data)
  return [mediaFromType(one.source.media_type, one.source.data)]
}

function toolChoice(given: Body['tool_choice']): ToolChoice | undefined {
  if (given === undefined) return undefined
  if (given.type !== 'tool') return given.type
  if (given.name === undefined) throw new ApiError(400, 'tool_choice of type tool needs a name')
  return { name: given.name }
}

function config(body: Body): GenerateConfig {
  return {
    maxOutputTokens: body.max_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    stopSequences: body.stop_sequences,
    reasoningTokens: body.thinking?.type === 'enabled' ? body.thinking.budget_tokens : undefined,
    parallelToolCalls: body.tool_choice?.disable_parallel_tool_use ? false : undefined,
  }
}

/** Anthropic counts what it cached apart from other input. */
function usage({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: ModelUsage) {
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    output_tokens: outputTokens,
    cache_read_input_tokens: cacheReadTokens,
    cache_creation_input_tokens: cacheWriteTokens,
  }
}
