import {
  argumentsText,
  DEFAULT_USAGE,
  type FakeAnswer,
  type FakeProtocol,
  type FakeRequestBody,
  type FakeUsage,
} from './answer.ts'

/** OpenAI's chat completions, as OpenAI, vLLM, Ollama and llama-server speak them. */
export const openaiChat: FakeProtocol = {
  body: (answer, request) => ({
    ...envelope(request, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.text ?? null,
          ...(answer.reasoning === undefined ? {} : { reasoning_content: answer.reasoning }),
          ...(answer.toolCalls ? { tool_calls: toolCalls(answer) } : {}),
        },
        finish_reason: finishReason(answer),
      },
    ],
    usage: usage(answer.usage),
  }),
  events: (answer, request) => {
    const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
      [
        '',
        {
          ...envelope(request, 'chat.completion.chunk'),
          choices: [{ index: 0, delta, finish_reason }],
          ...more,
        },
      ] as const
    const calls = toolCalls(answer).map((call, index) => chunk({ tool_calls: [{ ...call, index }] }))
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(answer.text === undefined ? [] : [chunk({ content: answer.text })]),
      ...calls,
      chunk({}, finishReason(answer), { usage: usage(answer.usage) }),
      ['', '[DONE]'],
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

function envelope({ model = 'fake' }: FakeRequestBody, object: string) {
  return { id: 'chatcmpl-fake', object, created: 1_767_323_045, model }
}

function toolCalls({ toolCalls: calls = [] }: FakeAnswer) {
  return calls.map((call, index) => ({
    id: `call_${index + 1}`,
    type: 'function',
    function: { name: call.name, arguments: argumentsText(call) },
  }))
}

function finishReason({ toolCalls: calls, isCut }: FakeAnswer): string {
  return isCut ? 'length' : calls ? 'tool_calls' : 'stop'
}

function usage({ input, output, cacheRead, reasoning }: FakeUsage = DEFAULT_USAGE) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead ?? 0 },
    completion_tokens_details: { reasoning_tokens: reasoning ?? 0 },
  }
}
