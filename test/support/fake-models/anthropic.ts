import {
  argumentsText,
  DEFAULT_USAGE,
  type FakeAnswer,
  type FakeProtocol,
  type FakeRequestBody,
  type FakeToolCall,
  type FakeUsage,
} from './answer.ts'

/** Anthropic's messages. */
export const anthropic: FakeProtocol = {
  body: (answer, request) => message(answer, request, content(answer)),
  events: (answer, request) => {
    const event = (type: string, data: object) => [type, { type, ...data }] as const
    const blocks = content(answer).flatMap((block, index) => [
      event('content_block_start', { index, content_block: emptied(block) }),
      event('content_block_delta', { index, delta: delta(block) }),
      event('content_block_stop', { index }),
    ])
    const { output_tokens, ...input } = usage(answer.usage)
    const begun = {
      ...message(answer, request, []),
      stop_reason: null,
      usage: { ...input, output_tokens: 0 },
    }
    return [
      event('message_start', { message: begun }),
      ...blocks,
      event('message_delta', {
        delta: { stop_reason: stopReason(answer), stop_sequence: null },
        usage: { output_tokens },
      }),
      event('message_stop', {}),
    ]
  },
  error: (status, text) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'api_error', message: text },
  }),
}

type Block = ReturnType<typeof content>[number]

function message(answer: FakeAnswer, { model = 'fake' }: FakeRequestBody, blocks: readonly Block[]) {
  return {
    id: 'msg_fake',
    type: 'message',
    role: 'assistant',
    model,
    content: blocks,
    stop_reason: stopReason(answer),
    stop_sequence: null,
    usage: usage(answer.usage),
  }
}

function content({ text, reasoning, toolCalls = [] }: FakeAnswer) {
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: 'thinking' as const, thinking: reasoning, signature: 'signed' }]),
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map((call, index) => ({
      type: 'tool_use' as const,
      id: `toolu_${index + 1}`,
      name: call.name,
      input: inputOf(call),
    })),
  ]
}

/** Its input is an object on the wire, so what is no JSON comes only in a stream. */
function inputOf(call: FakeToolCall): unknown {
  try {
    return JSON.parse(argumentsText(call))
  } catch {
    return argumentsText(call)
  }
}

function emptied(block: Block): object {
  if (block.type === 'text') return { ...block, text: '' }
  return block.type === 'thinking' ? { ...block, thinking: '', signature: '' } : { ...block, input: {} }
}

function delta(block: Block): object {
  if (block.type === 'text') return { type: 'text_delta', text: block.text }
  if (block.type === 'thinking') return { type: 'thinking_delta', thinking: block.thinking }
  return { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
}

function stopReason({ toolCalls, isCut }: FakeAnswer): string {
  return isCut ? 'max_tokens' : toolCalls ? 'tool_use' : 'end_turn'
}

function usage({ input, output, cacheRead = 0, cacheWrite = 0 }: FakeUsage = DEFAULT_USAGE) {
  return {
    input_tokens: input - cacheRead - cacheWrite,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  }
}
