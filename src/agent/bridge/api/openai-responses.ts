import { z } from 'zod'
import { type ContentPart, textOf } from '../../../sample/content.ts'
import type { GenerateConfig, ModelUsage, ToolChoice, ToolDescription } from '../../model.ts'
import { nowSeconds } from './answer.ts'
import { type Api, type ApiCall, ApiError } from './api.ts'
import { EMPTY, openaiError } from './openai-chat.ts'
import { outputItems, responseEvents } from './openai-responses-output.ts'
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
  z.object({
    type: z.enum(['input_text', 'output_text', 'text', 'summary_text', 'reasoning_text']),
    text: z.string(),
  }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
  z.object({ type: z.literal('input_image'), image_url: z.string() }),
  z.object({ type: z.literal('input_file'), file_data: z.string(), filename: optional(z.string()) }),
])
const content = z.union([z.string(), z.array(part)])
const output = z.union([content, z.unknown().transform((value) => JSON.stringify(value))])

const item = z.union([
  z.object({
    type: z.literal('message').default('message'),
    role: z.enum(['user', 'system', 'developer', 'assistant']),
    content,
  }),
  z.object({
    type: z.literal('function_call'),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({ type: z.literal('function_call_output'), call_id: z.string(), output }),
  z.object({ type: z.literal('custom_tool_call'), call_id: z.string(), name: z.string(), input: z.string() }),
  z.object({ type: z.literal('custom_tool_call_output'), call_id: z.string(), output }),
  z.object({
    type: z.literal('reasoning'),
    summary: optional(z.array(part)),
    content: optional(z.array(part)),
  }),
])
type Item = z.output<typeof item>

const tool = z.looseObject({
  type: z.string(),
  name: optional(z.string()),
  description: optional(z.string()),
  parameters: optional(jsonObject),
})

const schema = z.object({
  model: z.string(),
  instructions: optional(z.string()),
  input: z.union([z.string(), z.array(item).min(1)]),
  tools: optional(z.array(tool)),
  tool_choice: optional(
    z.union([
      z.enum(['auto', 'none', 'required']),
      z.looseObject({ type: z.string(), name: optional(z.string()) }),
    ]),
  ),
  stream: optional(z.boolean()),
  max_output_tokens: optional(z.number()),
  temperature: optional(z.number()),
  top_p: optional(z.number()),
  parallel_tool_calls: optional(z.boolean()),
  previous_response_id: optional(z.string()),
  reasoning: optional(
    z.object({ effort: optional(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh'])) }),
  ),
  text: optional(
    z.object({
      format: optional(
        z.looseObject({ type: z.string(), name: optional(z.string()), schema: optional(jsonObject) }),
      ),
    }),
  ),
})
type Body = z.output<typeof schema>

export interface ResponsesCall extends ApiCall {
  /** Names of tools whose argument is plain text. */
  readonly custom: ReadonlySet<string>
}

/** OpenAI's responses: https://platform.openai.com/docs/api-reference/responses */
export const openaiResponses: Api = {
  parse(given): ResponsesCall {
    const body = parseBody(schema, given)
    if (body.previous_response_id !== undefined)
      throw new ApiError(
        400,
        'answers are not stored here: send the whole conversation instead of previous_response_id',
      )
    const tools = body.tools ?? []
    return {
      model: body.model,
      stream: body.stream ?? false,
      custom: new Set(tools.flatMap(({ type, name }) => (type === 'custom' && name ? [name] : []))),
      ignored: tools.flatMap((one) => (toolOf(one) ? [] : [`tool of type ${one.type}`])),
      request: {
        messages: conversation(body).messages,
        tools: tools.flatMap((one) => toolOf(one) ?? []),
        toolChoice: toolChoice(body.tool_choice),
        config: config(body),
      },
    }
  },

  render(answer, call) {
    return response(
      call,
      { output: outputItems(answer, call as ResponsesCall), usage: usage(answer.usage) },
      answer.stopReason,
    )
  },

  *events(answer, call) {
    const id = newId('resp')
    const begun = { ...response(call, { output: [], usage: null }), id, status: 'in_progress' }
    const ended = {
      ...(openaiResponses.render(answer, call) as { output: readonly Record<string, unknown>[] }),
      id,
    }
    let sequence = 0
    const numbered = (type: string, fields: object) => ({
      event: type,
      data: { type, sequence_number: sequence++, ...fields },
    })
    yield numbered('response.created', { response: begun })
    yield numbered('response.in_progress', { response: begun })
    for (const { type, ...fields } of responseEvents(ended.output)) yield numbered(type, fields)
    yield numbered(answer.stopReason === 'max-tokens' ? 'response.incomplete' : 'response.completed', {
      response: ended,
    })
  },

  error: openaiError,
}

function response(call: ApiCall, fields: { output: unknown; usage: unknown }, stopReason = 'stop') {
  const incomplete = stopReason === 'max-tokens' || stopReason === 'context-length'
  return {
    id: newId('resp'),
    object: 'response',
    created_at: nowSeconds(),
    status: incomplete ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: incomplete ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    metadata: {},
    model: call.model,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    ...fields,
  }
}

function conversation({ instructions, input }: Body): Conversation {
  const result = new Conversation()
  if (instructions) result.add({ role: 'system', content: instructions })
  if (typeof input === 'string') result.add({ role: 'user', content: input })
  else for (const one of input) addItem(result, one)
  return result
}

function addItem(result: Conversation, one: Item): void {
  if (one.type === 'function_call')
    result.addToAnswer([], [toolCallOf({ id: one.call_id, name: one.name, text: one.arguments })])
  else if (one.type === 'custom_tool_call')
    result.addToAnswer([], [{ id: one.call_id, name: one.name, arguments: { input: one.input } }])
  else if (one.type === 'function_call_output' || one.type === 'custom_tool_call_output')
    result.addResult(one.call_id, contentOf(partsOf(one.output)))
  else if (one.type === 'reasoning') {
    const thought = [...(one.summary ?? []), ...(one.content ?? [])].flatMap((given) => partOf(given))
    const text = textOf(thought)
    if (text !== '') result.add({ role: 'assistant', content: [{ type: 'reasoning', text }] })
  } else if (one.role === 'assistant') result.addToAnswer(partsOf(one.content), [])
  else if (one.role === 'user') result.add({ role: 'user', content: contentOf(partsOf(one.content)) })
  else result.add({ role: 'system', content: textOf(partsOf(one.content)) })
}

function partsOf(given: z.output<typeof content>): ContentPart[] {
  return typeof given === 'string' ? textParts(given) : given.flatMap(partOf)
}

function partOf(given: z.output<typeof part>): ContentPart[] {
  if (given.type === 'refusal') return textParts(given.refusal)
  if (given.type === 'input_image') return [mediaFromUri('image', given.image_url)]
  if (given.type === 'input_file') return [mediaFromUri('document', given.file_data, given.filename)]
  return textParts(given.text)
}

const TEXT_INPUT = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] } as const

/** Undefined for what a provider runs itself. */
function toolOf({
  type,
  name,
  description = '',
  parameters,
  format,
}: z.output<typeof tool>): ToolDescription | undefined {
  if (name === undefined) return undefined
  if (type === 'function') return { name, description, parameters: parameters ?? EMPTY }
  if (type !== 'custom') return undefined
  const grammar = format === undefined ? '' : `\nFormat of the input: ${JSON.stringify(format)}`
  return { name, description: `${description}${grammar}`, parameters: TEXT_INPUT }
}

function toolChoice(given: Body['tool_choice']): ToolChoice | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'object') return given.name === undefined ? 'auto' : { name: given.name }
  return given === 'required' ? 'any' : given
}

function config(body: Body): GenerateConfig {
  const format = body.text?.format
  return {
    maxOutputTokens: body.max_output_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    parallelToolCalls: body.parallel_tool_calls,
    reasoningEffort: body.reasoning?.effort,
    responseSchema:
      format?.type === 'json_schema' && format.schema
        ? { name: format.name ?? 'response', schema: format.schema }
        : undefined,
  }
}

function usage({ inputTokens, outputTokens, cacheReadTokens = 0, reasoningTokens = 0 }: ModelUsage) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}
