import { z } from 'zod'
import { type ContentPart, textOf } from '../../../sample/content.ts'
import type { GenerateConfig, ModelOutput, ModelUsage, StopReason, ToolChoice } from '../../model.ts'
import { answerOf, nowSeconds } from './answer.ts'
import { type Api, type ApiCall, ApiError, type ApiEvent } from './api.ts'
import {
  Conversation,
  contentOf,
  jsonObject,
  mediaFromUri,
  newId,
  optional,
  parseBody,
  textParts,
  toolCallOf,
} from './parse.ts'

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
  z.object({
    type: z.literal('input_audio'),
    input_audio: z.object({ data: z.string(), format: z.string() }),
  }),
  z.object({
    type: z.literal('file'),
    file: z.object({ file_data: z.string(), filename: z.string().optional() }),
  }),
])
const content = optional(z.union([z.string(), z.array(part)]))

const message = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content }),
  z.object({
    role: z.literal('assistant'),
    content,
    reasoning_content: optional(z.string()),
    tool_calls: optional(
      z.array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) })),
    ),
  }),
  z.object({ role: z.literal('tool'), content, tool_call_id: z.string() }),
])

const schema = z.object({
  model: z.string(),
  messages: z.array(message).min(1),
  tools: optional(
    z.array(
      z.object({
        type: z.string(),
        function: z
          .object({ name: z.string(), description: optional(z.string()), parameters: optional(jsonObject) })
          .optional(),
      }),
    ),
  ),
  tool_choice: optional(
    z.union([
      z.enum(['auto', 'none', 'required']),
      z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
    ]),
  ),
  stream: optional(z.boolean()),
  stream_options: optional(z.object({ include_usage: optional(z.boolean()) })),
  n: optional(z.number()),
  max_tokens: optional(z.number()),
  max_completion_tokens: optional(z.number()),
  temperature: optional(z.number()),
  top_p: optional(z.number()),
  seed: optional(z.number()),
  stop: optional(z.union([z.string(), z.array(z.string())])),
  frequency_penalty: optional(z.number()),
  presence_penalty: optional(z.number()),
  reasoning_effort: optional(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh'])),
  parallel_tool_calls: optional(z.boolean()),
  response_format: optional(
    z.union([
      z.object({
        type: z.literal('json_schema'),
        json_schema: z.object({ name: z.string(), schema: jsonObject }),
      }),
      z.object({ type: z.string() }),
    ]),
  ),
})
type Body = z.output<typeof schema>

interface ChatCall extends ApiCall {
  readonly includeUsage: boolean
}

/** OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat */
export const openaiChat: Api = {
  parse(given): ChatCall {
    const body = parseBody(schema, given)
    if ((body.n ?? 1) !== 1) throw new ApiError(400, 'only one answer can be asked for (n: 1)')
    const tools = body.tools ?? []
    return {
      model: body.model,
      stream: body.stream ?? false,
      includeUsage: body.stream_options?.include_usage ?? false,
      ignored: tools.flatMap((tool) => (tool.function ? [] : [`tool of type ${tool.type}`])),
      request: {
        messages: conversation(body).messages,
        tools: tools.flatMap(({ function: tool }) =>
          tool
            ? [{ name: tool.name, description: tool.description ?? '', parameters: tool.parameters ?? EMPTY }]
            : [],
        ),
        toolChoice: toolChoice(body.tool_choice),
        config: config(body),
      },
    }
  },

  render(output, call) {
    const { text, reasoning, toolCalls } = answerOf(output)
    const thought = reasoning.map((part) => part.text).join('\n')
    return {
      id: newId('chatcmpl'),
      object: 'chat.completion',
      created: nowSeconds(),
      model: call.model,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: text === '' && toolCalls.length > 0 ? null : text,
            refusal: null,
            ...(thought !== '' && { reasoning_content: thought }),
            ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(chatToolCall) }),
          },
          logprobs: null,
          finish_reason: FINISH[output.stopReason],
        },
      ],
      usage: usage(output.usage),
    }
  },

  *events(output, call) {
    const head = {
      id: newId('chatcmpl'),
      object: 'chat.completion.chunk',
      created: nowSeconds(),
      model: call.model,
    }
    for (const choice of deltas(output)) yield { data: { ...head, choices: [choice] } }
    if ((call as ChatCall).includeUsage) yield { data: { ...head, choices: [], usage: usage(output.usage) } }
    yield { data: '[DONE]' } satisfies ApiEvent
  },

  error: openaiError,
}

/** As both of OpenAI's protocols tell an error. */
export function openaiError({ status, message }: ApiError): unknown {
  return { error: { message, type: errorType(status), param: null, code: null } }
}

function errorType(status: number): string {
  if (status === 404) return 'not_found_error'
  return status < 500 ? 'invalid_request_error' : 'server_error'
}

export const EMPTY = { type: 'object', properties: {} } as const

export const FINISH: Readonly<Record<StopReason, string>> = {
  stop: 'stop',
  'max-tokens': 'length',
  'context-length': 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  unknown: 'stop',
}

function conversation({ messages }: Body): Conversation {
  const result = new Conversation()
  for (const said of messages) {
    const parts = partsOf(said.content)
    if (said.role === 'assistant') addAnswer(result, said, parts)
    else if (said.role === 'tool') result.addResult(said.tool_call_id, contentOf(parts))
    else if (said.role === 'user') result.add({ role: 'user', content: contentOf(parts) })
    else result.add({ role: 'system', content: textOf(parts) })
  }
  return result
}

function addAnswer(
  result: Conversation,
  said: Extract<Body['messages'][number], { role: 'assistant' }>,
  parts: readonly ContentPart[],
): void {
  const thought = said.reasoning_content ? [{ type: 'reasoning' as const, text: said.reasoning_content }] : []
  const toolCalls = (said.tool_calls ?? []).map((call) =>
    toolCallOf({ id: call.id, name: call.function.name, text: call.function.arguments }),
  )
  result.add({
    role: 'assistant',
    content: contentOf([...thought, ...parts]),
    ...(toolCalls.length > 0 && { toolCalls }),
  })
}

function partsOf(given: z.output<typeof content>): ContentPart[] {
  if (given === undefined) return []
  if (typeof given === 'string') return textParts(given)
  return given.map((one) => {
    if (one.type === 'text') return one
    if (one.type === 'refusal') return { type: 'text', text: one.refusal }
    if (one.type === 'image_url') return mediaFromUri('image', one.image_url.url)
    if (one.type === 'file') return mediaFromUri('document', one.file.file_data, one.file.filename)
    return { type: 'audio', mediaType: `audio/${one.input_audio.format}`, data: one.input_audio.data }
  })
}

function toolChoice(given: Body['tool_choice']): ToolChoice | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'object') return { name: given.function.name }
  return given === 'required' ? 'any' : given
}

function config(body: Body): GenerateConfig {
  const { stop, response_format: format } = body
  return {
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    seed: body.seed,
    stopSequences: typeof stop === 'string' ? [stop] : stop,
    frequencyPenalty: body.frequency_penalty,
    presencePenalty: body.presence_penalty,
    reasoningEffort: body.reasoning_effort,
    parallelToolCalls: body.parallel_tool_calls,
    responseSchema: format && 'json_schema' in format ? format.json_schema : undefined,
  }
}

function chatToolCall({ id, name, arguments: given }: { id: string; name: string; arguments: unknown }) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(given) } }
}

function* deltas(output: ModelOutput): Generator<unknown> {
  const { text, toolCalls } = answerOf(output)
  const choice = (delta: unknown, finish: string | null = null) => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: finish,
  })
  yield choice({ role: 'assistant', content: '' })
  if (text !== '') yield choice({ content: text })
  for (const [index, call] of toolCalls.entries())
    yield choice({ tool_calls: [{ index, ...chatToolCall(call) }] })
  yield choice({}, FINISH[output.stopReason])
}

function usage(use: ModelUsage): unknown {
  return {
    prompt_tokens: use.inputTokens,
    completion_tokens: use.outputTokens,
    total_tokens: use.inputTokens + use.outputTokens,
    prompt_tokens_details: { cached_tokens: use.cacheReadTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: use.reasoningTokens ?? 0 },
  }
}
