import {
  argumentsText,
  DEFAULT_USAGE,
  type FakeAnswer,
  type FakeProtocol,
  type FakeRequestBody,
  type FakeUsage,
} from './answer.ts'

/** OpenAI's responses. */
export const openaiResponses: FakeProtocol = {
  body: (answer, request) => response(answer, request, 'completed'),
  events: (answer, request) => {
    const items = output(answer)
    let sequence_number = 0
    const event = (type: string, data: object) =>
      [type, { type, sequence_number: sequence_number++, ...data }] as const
    const empty = { ...response(answer, request, 'in_progress'), output: [] }
    return [
      event('response.created', { response: empty }),
      ...items.flatMap((item, output_index) => itemEvents(item, output_index, event)),
      event('response.completed', { response: response(answer, request, 'completed') }),
    ]
  },
  error: (status, message) => ({
    error: {
      message,
      type: status === 429 ? 'rate_limit_exceeded' : 'server_error',
      code: null,
      param: null,
    },
  }),
}

type Item = ReturnType<typeof output>[number]
type MakeEvent = (type: string, data: object) => readonly [string, object]

function itemEvents(item: Item, output_index: number, event: MakeEvent): (readonly [string, object])[] {
  const place = { item_id: item.id, output_index }
  const begin = event('response.output_item.added', {
    output_index,
    item: { ...item, status: 'in_progress' },
  })
  const end = event('response.output_item.done', { output_index, item })
  if (item.type === 'function_call')
    return [
      begin,
      event('response.function_call_arguments.delta', { ...place, delta: item.arguments }),
      event('response.function_call_arguments.done', { ...place, arguments: item.arguments }),
      end,
    ]
  if (item.type !== 'message') return [begin, end]
  const [part] = item.content
  const at = { ...place, content_index: 0 }
  return [
    begin,
    event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
    event('response.output_text.delta', { ...at, delta: part?.text ?? '' }),
    event('response.output_text.done', { ...at, text: part?.text ?? '' }),
    event('response.content_part.done', { ...at, part }),
    end,
  ]
}

function response(answer: FakeAnswer, { model = 'fake' }: FakeRequestBody, status: string) {
  return {
    id: 'resp_fake',
    object: 'response',
    created_at: 1_767_323_045,
    model,
    status: answer.isCut ? 'incomplete' : status,
    incomplete_details: answer.isCut ? { reason: 'max_output_tokens' } : null,
    error: null,
    output: output(answer),
    usage: usage(answer.usage),
  }
}

function output({ text, reasoning, toolCalls = [] }: FakeAnswer) {
  const thought = {
    type: 'reasoning' as const,
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: reasoning ?? '' }],
  }
  const said = {
    type: 'message' as const,
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: text ?? '', annotations: [] }],
  }
  const calls = toolCalls.map((call, index) => ({
    type: 'function_call' as const,
    id: `fc_${index + 1}`,
    call_id: `call_${index + 1}`,
    name: call.name,
    arguments: argumentsText(call),
    status: 'completed',
  }))
  return [...(reasoning === undefined ? [] : [thought]), ...(text === undefined ? [] : [said]), ...calls]
}

function usage({ input, output, cacheRead, reasoning }: FakeUsage = DEFAULT_USAGE) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: input + output,
  }
}
