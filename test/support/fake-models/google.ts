import { argumentsText, DEFAULT_USAGE, type FakeAnswer, type FakeProtocol, type FakeUsage } from './answer.ts'

/** Google's generateContent. */
export const google: FakeProtocol = {
  body: (answer) => response(answer),
  events: (answer) => [['', response(answer)]],
  error: (status, message) => ({
    error: { code: status, message, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL' },
  }),
}

function response(answer: FakeAnswer) {
  const { text, reasoning, toolCalls = [], isCut } = answer
  const parts = [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...toolCalls.map((call) => ({
      functionCall: { name: call.name, args: JSON.parse(argumentsText(call)) },
      thoughtSignature: 'c2lnbmVk',
    })),
  ]
  return {
    candidates: [
      { index: 0, content: { role: 'model', parts }, finishReason: isCut ? 'MAX_TOKENS' : 'STOP' },
    ],
    usageMetadata: usage(answer.usage),
    modelVersion: 'fake',
    responseId: 'fake',
  }
}

function usage({ input, output, cacheRead = 0, reasoning = 0 }: FakeUsage = DEFAULT_USAGE) {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    cachedContentTokenCount: cacheRead,
    totalTokenCount: input + output,
  }
}
