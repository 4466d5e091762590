import { MockLanguageModelV3 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../../src/agent/messages.ts'
import { fromAiSdk } from '../../../../src/agent/providers/ai-sdk/from-ai-sdk.ts'
import type { AiSdkModel } from '../../../../src/agent/providers/ai-sdk/types.ts'

const image = { type: 'image', data: 'aGVsbG8=', mediaType: 'image/png' } as const
const messages: Message[] = [
  { role: 'user', content: [{ type: 'text', text: 'Look.' }, image] },
  { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'look', arguments: {} }] },
  { role: 'tool', toolCallId: 'c1', toolName: 'look', content: [{ type: 'text', text: 'seen' }, image] },
]
const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }]
const call = { type: 'tool-call', toolCallId: 'c2', toolName: 'look', input: '{"at":"it"}' }

/** Models of each version that keep what they are asked, and say the same in its form. */
function modelOf(specificationVersion: AiSdkModel['specificationVersion'], provider = 'acme.chat') {
  const asked: Record<string, unknown>[] = []
  const nested = {
    inputTokens: { total: 10, cacheRead: 4, cacheWrite: 1 },
    outputTokens: { total: 6, reasoning: 2 },
  }
  const flat = { inputTokens: 10, outputTokens: 6, cachedInputTokens: 4, reasoningTokens: 2 }
  const model = {
    specificationVersion,
    provider,
    modelId: 'm1',
    async doGenerate(options: Record<string, unknown>) {
      asked.push(options)
      return {
        content: [{ type: 'text', text: 'I look.' }, call],
        finishReason:
          specificationVersion === 'v2' ? 'tool-calls' : { unified: 'tool-calls', raw: 'tool_calls' },
        usage: specificationVersion === 'v2' ? flat : nested,
        warnings: [{ type: 'unsupported', feature: 'seed' }],
        request: { body: { asked: true } },
        response: { body: { answered: true } },
      }
    },
  }
  return { model: model as unknown as AiSdkModel, asked }
}

describe.each(['v2', 'v3', 'v4'] as const)('fromAiSdk of interface version %s', (version) => {
  it('answers in our terms', async () => {
    const { model } = modelOf(version)
    expect(await fromAiSdk(model).generate({ messages, tools })).toMatchObject({
      message: {
        content: 'I look.',
        model: 'acme/m1',
        toolCalls: [{ id: 'c2', name: 'look', arguments: { at: 'it' } }],
      },
      stopReason: 'tool-calls',
      usage: { inputTokens: 10, outputTokens: 6, cacheReadTokens: 4, reasoningTokens: 2 },
      warnings: ['unsupported: seed'],
      call: { request: { asked: true }, response: { answered: true } },
    })
  })

  it('asks in its form', async () => {
    const { model, asked } = modelOf(version)
    const config = {
      seed: 1,
      stopSequences: ['x'],
      responseSchema: { name: 'r', schema: { type: 'object' } },
    }
    await fromAiSdk(model).generate({ messages, tools, toolChoice: 'any', config })
    const data = version === 'v4' ? { type: 'data', data: image.data } : image.data
    const result = {
      v2: { type: 'media', mediaType: 'image/png', data },
      v3: { type: 'image-data', mediaType: 'image/png', data },
      v4: { type: 'file', mediaType: 'image/png', data },
    }
    expect(asked).toMatchObject([
      {
        seed: 1,
        stopSequences: ['x'],
        toolChoice: { type: 'required' },
        responseFormat: { type: 'json', name: 'r', schema: { type: 'object' } },
        tools: [{ type: 'function', name: 'look', inputSchema: { type: 'object' } }],
        prompt: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look.' },
              { type: 'file', mediaType: 'image/png', data },
            ],
          },
          {
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: {} }],
          },
          {
            role: 'tool',
            content: [
              { output: { type: 'content', value: [{ type: 'text', text: 'seen' }, result[version]] } },
            ],
          },
        ],
      },
    ])
  })
})

describe('fromAiSdk', () => {
  it.each([
    ['openai.responses', { openai: { reasoningEffort: 'low', parallelToolCalls: false, user: 'me' } }],
    ['azure-openai.chat', { openai: { reasoningEffort: 'low' } }],
    ['anthropic.messages', { anthropic: { effort: 'low', disableParallelToolUse: true } }],
    ['google.generative-ai', { google: { thinkingConfig: { thinkingLevel: 'low' } } }],
  ])('tells %s settings that the interface has no place for', async (provider, expected) => {
    const { model, asked } = modelOf('v3', provider)
    const providerOptions = { openai: { user: 'me' } }
    const config = { reasoningEffort: 'low', parallelToolCalls: false, providerOptions } as const
    await fromAiSdk(model).generate({ messages, tools, config })
    expect(asked[0]?.providerOptions).toMatchObject(expected)
  })

  it('has Anthropic cache conversations with tools', async () => {
    const { model, asked } = modelOf('v3', 'anthropic.messages')
    const own = fromAiSdk(model)
    await own.generate({ messages, tools })
    await own.generate({ messages, tools, config: { cachePrompt: false } })
    await own.generate({ messages, tools: [] })
    const marked = asked.map(({ prompt }) => JSON.stringify(prompt).includes('cacheControl'))
    expect(marked).toEqual([true, false, false])
  })

  it("takes the AI SDK's own mock model", async () => {
    const mock = new MockLanguageModelV3({
      doGenerate: async () => ({
        content: [{ type: 'text', text: 'hello' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: 2, text: 2, reasoning: undefined },
        },
        warnings: [],
      }),
    })
    const output = await fromAiSdk(mock).generate({ messages: [{ role: 'user', content: 'hi' }], tools: [] })
    expect(output).toMatchObject({
      message: { content: 'hello' },
      usage: { inputTokens: 1, outputTokens: 2 },
    })
    expect(mock.doGenerateCalls).toHaveLength(1)
  })

  it.each([
    ['openai/gpt-5', "got the string 'openai/gpt-5'; give names to loadModel"],
    [{ specificationVersion: 'v1', doGenerate: () => undefined }, 'got interface version v1'],
    [undefined, 'got undefined'],
  ])('refuses %j', (given, message) => {
    expect(() => fromAiSdk(given as never)).toThrow(message)
  })
})
