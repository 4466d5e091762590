import { describe, expect, it } from 'vitest'
import type { Message } from '../../../../src/agent/messages.ts'
import type { ModelRequest } from '../../../../src/agent/model.ts'
import { loadModel } from '../../../../src/agent/providers/load-model.ts'
import { ModelError } from '../../../../src/errors.ts'
import type { FakeAnswer } from '../../../support/fake-models/answer.ts'
import { type FakeReply, fakeModelServer } from '../../../support/fake-models/server.ts'

const tools = [
  {
    name: 'bash',
    description: 'Runs a command.',
    parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  },
]
const question: Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'What is there?' },
]

/** By provider: its name with a path of the fake server, and a model id. */
const PROVIDERS = {
  'openai/gpt-5': { path: '/v1', protocol: 'openaiResponses' },
  'openai/gpt-5 (chat)': { path: '/v1', protocol: 'openaiChat' },
  'anthropic/claude-sonnet-4-5': { path: '/v1', protocol: 'anthropic' },
  'google/gemini-2.5-pro': { path: '/v1beta', protocol: 'google' },
  'openai-compatible/qwen3': { path: '/v1', protocol: 'openaiChat' },
} as const
type Name = keyof typeof PROVIDERS
const NAMES = Object.keys(PROVIDERS) as Name[]

async function asked(name: Name, replies: readonly FakeReply[], request: Partial<ModelRequest> = {}) {
  await using server = await fakeModelServer(replies)
  const [id = '', api] = name.split(' ')
  const model = await loadModel(id, {
    baseUrl: server.url + PROVIDERS[name].path,
    args: { apiKey: 'k', ...(api ? { api: 'chat' } : {}) },
    env: {},
  })
  const output = await model.generate({ messages: question, tools, ...request }).catch((error) => error)
  return { output, requests: [...server.requests], model }
}

const usage = { input: 100, output: 30, cacheRead: 40, reasoning: 20 }

describe.each(NAMES)('%s', (name) => {
  it('answers with text, usage and the raw call', async () => {
    const { output, requests } = await asked(name, [{ text: 'a file', usage }])
    expect(requests.map(({ protocol }) => protocol)).toEqual([PROVIDERS[name].protocol])
    const reasoningTokens = name.startsWith('anthropic') ? {} : { reasoningTokens: 20 }
    expect(output).toMatchObject({
      message: { role: 'assistant', content: 'a file', model: name.split(' ')[0] },
      stopReason: 'stop',
      usage: { inputTokens: 100, outputTokens: 30, cacheReadTokens: 40, ...reasoningTokens },
    })
    const { request, response } = output.call
    const sent = typeof request === 'string' ? JSON.parse(request) : request
    expect(JSON.stringify(sent)).toContain('What is there?')
    expect(JSON.stringify(response)).toContain('a file')
  })

  it('calls tools, several at once, and is told what came of it', async () => {
    const calls = ['ls', 'pwd'].map((command) => ({ name: 'bash', arguments: { command } }))
    const { output } = await asked(name, [{ toolCalls: calls }])
    expect(output).toMatchObject({ stopReason: 'tool-calls', message: { toolCalls: calls } })
    const results = output.message.toolCalls.map(({ id }: { id: string }, index: number) => ({
      role: 'tool',
      toolCallId: id,
      toolName: 'bash',
      content: `result ${index}`,
      ...(index === 1 ? { error: { kind: 'failed', message: 'no' } } : {}),
    }))
    const next = await asked(name, [{ text: 'done' }], {
      messages: [...question, output.message, ...results],
    })
    expect(next.output.message.content).toBe('done')
    const sent = JSON.stringify(next.requests[0]?.body)
    for (const text of ['ls', 'pwd', 'result 0', 'result 1']) expect(sent).toContain(text)
  })

  it('is shown pictures', async () => {
    const image = { type: 'image', data: 'aGVsbG8=', mediaType: 'image/png' } as const
    const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }]
    const { requests, output } = await asked(name, [{ text: 'a cat' }], { messages })
    expect(output.message.content).toBe('a cat')
    expect(JSON.stringify(requests[0]?.body)).toContain('aGVsbG8=')
  })

  it('tells when the answer was cut off', async () => {
    const { output } = await asked(name, [{ text: 'a fi', isCut: true }])
    expect(output.stopReason).toBe('max-tokens')
  })

  it('is sent the settings', async () => {
    const config = { maxOutputTokens: 77, seed: 5, temperature: 0.5 }
    const { requests } = await asked(name, [{ text: 'x' }], { config })
    const sent = JSON.stringify(requests[0]?.body)
    expect(sent).toContain('77')
    if (!name.startsWith('openai/')) expect(sent).toContain('0.5')
  })

  it('is sent which tool to call', async () => {
    const answer: FakeAnswer = { toolCalls: [{ name: 'bash', arguments: {} }] }
    for (const toolChoice of ['any', 'none', { name: 'bash' }] as const) {
      const { output } = await asked(name, [answer], { toolChoice })
      expect(output.message?.toolCalls).toHaveLength(1)
    }
  })

  it.each([
    [{ fault: 'status', status: 429, headers: { 'retry-after': '7' } }, 'rate-limit', true],
    [{ fault: 'status', status: 429, headers: { 'retry-after-ms': '7000' } }, 'rate-limit', true],
    [{ fault: 'status', status: 500 }, 'overloaded', true],
    [{ fault: 'status', status: 529 }, 'overloaded', true],
    [{ fault: 'status', status: 401 }, 'authentication', false],
    [{ fault: 'status', status: 404 }, 'not-found', false],
    [{ fault: 'status', status: 400, message: 'bad temperature' }, 'request', false],
    [
      { fault: 'status', status: 400, message: 'prompt is too long: 9 tokens > 8 maximum' },
      'context-length',
      false,
    ],
    [{ fault: 'drop' }, 'connection', true],
    [{ fault: 'drop-body' }, 'connection', true],
    [{ fault: 'raw', body: '{"no": "answer"}' }, 'response', true],
    [{ fault: 'raw', body: '<html>' }, 'response', true],
  ] as const)('fails by %j as %s, once', async (fault, kind, transient) => {
    const { output, requests } = await asked(name, [fault])
    // Google answers without a candidate when it refuses a prompt.
    if (name.startsWith('google') && kind === 'response' && fault.body !== '<html>') return
    expect(output).toBeInstanceOf(ModelError)
    expect(output).toMatchObject({ kind, transient, model: name.split(' ')[0] })
    if (kind === 'rate-limit') expect(output.retryAfterMs).toBe(7000)
    if (fault.fault === 'status') expect(output.status).toBe(fault.status)
    expect(requests).toHaveLength(1)
  })

  it('ends at once when it is aborted, with its reason, and hangs up', async () => {
    await using server = await fakeModelServer([{ fault: 'hang' }])
    const args = { apiKey: 'k', ...(name.endsWith('(chat)') ? { api: 'chat' } : {}) }
    const [id = ''] = name.split(' ')
    const model = await loadModel(id, { baseUrl: server.url + PROVIDERS[name].path, args, env: {} })
    const controller = new AbortController()
    const call = model.generate({ messages: question, tools, signal: controller.signal })
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    controller.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    while (server.hungUp === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  })
})

/** Others send arguments as objects. */
describe.each(NAMES.filter((name) => name.startsWith('openai')))('%s', (name) => {
  it.each(['{"command": "ls', '[]', 'null', '"text"'])(
    "gives back arguments %s of a tool call as the model's mistake",
    async (args) => {
      const { output } = await asked(name, [{ toolCalls: [{ name: 'bash', arguments: args }] }])
      expect(output.message.toolCalls).toMatchObject([
        { name: 'bash', arguments: {}, parseError: expect.stringContaining(args === 'null' ? 'null' : args) },
      ])
    },
  )
})

/** Chat completions of OpenAI itself tell no thoughts. */
describe.each(NAMES.filter((name) => name !== 'openai/gpt-5 (chat)'))('%s', (name) => {
  it('gives back what it thought, so that the provider knows them again', async () => {
    const first = await asked(name, [
      { reasoning: 'hm', text: 'a file', toolCalls: [{ name: 'bash', arguments: {} }] },
    ])
    const { message } = first.output
    expect(message.content[0]).toMatchObject({ type: 'reasoning', text: 'hm' })
    const result = {
      role: 'tool',
      toolCallId: message.toolCalls[0].id,
      toolName: 'bash',
      content: 'x',
    } as const
    const { requests } = await asked(name, [{ text: 'ok' }], { messages: [...question, message, result] })
    const proof = { openaiResponses: 'msg_1', anthropic: 'signed', google: 'c2lnbmVk', openaiChat: 'a file' }
    expect(JSON.stringify(requests[0]?.body)).toContain(proof[PROVIDERS[name].protocol])
  })
})
