import { Agent, fetch } from 'undici'
import { describe, expect, it } from 'vitest'
import { loadModel } from '../../../../src/agent/providers/load-model.ts'
import { importOptional } from '../../../../src/agent/providers/optional-package.ts'
import { fakeModelServer } from '../../../support/fake-models/server.ts'

const request = { messages: [{ role: 'user', content: 'hi' }], tools: [] } as const

describe('loadModel', () => {
  it.each([
    ['gpt-5', {}, 'unknown model'],
    ['gateway/gpt-5', {}, 'unknown model'],
    ['openai/', {}, 'unknown model'],
    ['constructor/x', {}, 'unknown model'],
    ['openai/gpt-5', {}, 'set OPENAI_API_KEY'],
    ['anthropic/claude', {}, 'set ANTHROPIC_API_KEY'],
    ['google/gemini', {}, 'GEMINI_API_KEY'],
    ['openai-compatible/qwen', { args: { apiKey: 'k' } }, 'needs a base URL'],
    ['openai/gpt-5', { args: { apiKey: 'k', api: 'assistants' } }, "expected 'responses' or 'chat'"],
    ['scripted', {}, 'expected its answers as `outputs`'],
    ['scripted', { args: { outputs: ['a'], speed: 1 } }, "unknown argument 'speed'"],
  ])('refuses %s with %j', async (name, options, message) => {
    await expect(loadModel(name, { env: {}, ...options })).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(message),
    })
  })

  it('finds address and key in the environment, and tells neither the key nor headers to the log', async () => {
    await using server = await fakeModelServer([{ text: 'ok' }])
    const env = { OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`, OPENAI_COMPATIBLE_API_KEY: 's3cret' }
    const args = { headers: { 'x-org': 'me' }, queryParams: { a: '1' } }
    const model = await loadModel('openai-compatible/org/qwen3', { env, args })
    const output = await model.generate(request)
    expect(server.requests[0]).toMatchObject({
      path: '/v1/chat/completions?a=1',
      headers: { authorization: 'Bearer s3cret', 'x-org': 'me' },
      body: { model: 'org/qwen3' },
    })
    expect(model).toMatchObject({ name: 'openai-compatible/org/qwen3', baseUrl: `${server.url}/v1` })
    expect(model.args).toEqual({ queryParams: { a: '1' } })
    expect(JSON.stringify(output)).not.toContain('s3cret')
  })

  it('waits for headers longer than a client with a deadline for them would', async () => {
    await using server = await fakeModelServer([
      { fault: 'slow-headers', ms: 2500, answer: { text: 'thought' } },
    ])
    const impatient = new Agent({ headersTimeout: 300 })
    const model = await loadModel('openai-compatible/m', { baseUrl: `${server.url}/v1`, env: {} })
    const body = JSON.stringify({ model: 'm', messages: [] })
    const refused = fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      body,
      dispatcher: impatient,
    })
    const [patient] = await Promise.all([
      model.generate(request),
      expect(refused).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } }),
    ])
    expect(patient.message.content).toBe('thought')
    await impatient.destroy()
  })

  it('answers each conversation by a script of arguments', async () => {
    const outputs = ['first', { text: 'second', toolCalls: [{ name: 'bash', arguments: { command: 'ls' } }] }]
    const model = await loadModel('scripted', { args: { outputs } })
    const said = { role: 'assistant', content: 'first' } as const
    for (const _conversation of [1, 2]) {
      expect((await model.generate(request)).message.content).toBe('first')
      const second = await model.generate({ ...request, messages: [...request.messages, said] })
      expect(second.message).toMatchObject({ content: 'second', toolCalls: [{ name: 'bash' }] })
    }
    const third = model.generate({ ...request, messages: [said, said] })
    await expect(third).rejects.toMatchObject({ code: 'script-ended' })
  })
})

describe('a package that is not installed', () => {
  it('is named, with the command that installs it', async () => {
    const missing = importOptional({ name: '@ai-sdk/nobody-has-it', version: '3', where: "model 'nobody/x'" })
    await expect(missing).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('npm install @ai-sdk/nobody-has-it@3'),
    })
  })
})
