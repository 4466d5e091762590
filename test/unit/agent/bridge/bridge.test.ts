import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../../../src/agent/agent.ts'
import { type BridgeOptions, openBridge } from '../../../../src/agent/bridge/bridge.ts'
import { type ModelScript, scriptedModel } from '../../../../src/agent/scripted-model.ts'
import { ModelError } from '../../../../src/errors.ts'
import { agentContext, type TestContextOptions } from '../../../support/agent-context.ts'
import { hasGuest, runGuest } from '../../sandbox/guest/guest-process.ts'

const CLI = fileURLToPath(new URL('../../../support/stand-in/cli.mjs', import.meta.url))
const USAGE = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 1 }

/** Asks for two commands at once, then for one more, then answers with what it was shown. */
const SCRIPT: ModelScript = ({ messages }, call) => {
  const results = messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []))
  const shell = (command: string) => ({ name: 'shell', arguments: { command } })
  if (call === 0) return { text: 'Looking.', toolCalls: [shell('echo one'), shell('echo two')], usage: USAGE }
  if (call === 1) return { toolCalls: [shell('printf "caf\\303\\251"')], usage: USAGE }
  return { text: `saw ${results.join('|').replaceAll('\n', '/')}`, usage: USAGE }
}

async function withBridge<T>(
  options: TestContextOptions & { bridge?: BridgeOptions },
  work: (parts: {
    context: ReturnType<typeof agentContext>
    ask: Ask
    failed: AbortSignal
    url: string
  }) => Promise<T>,
): Promise<T> {
  await using guest = await runGuest()
  const context = agentContext({ ...options, sandbox: guest.sandbox })
  await using bridge = await openBridge(context as AgentContext, options.bridge)
  const ask: Ask = (protocol, prompt = 'Do it.') =>
    guest.sandbox.exec([process.execPath, CLI, protocol, prompt], { env: bridge.env, timeoutMs: 60_000 })
  return await work({ context, ask, failed: bridge.failed, url: bridge.url })
}
type Ask = (
  protocol: string,
  prompt?: string,
) => Promise<{ stdout: string; stderr: string; exitCode: number | null }>

const PROTOCOLS = ['openai-chat', 'openai-responses', 'anthropic', 'google'].flatMap((name) => [
  name,
  `${name}:stream`,
])

describe.skipIf(!hasGuest)('the bridge', { timeout: 30_000 }, () => {
  it.each(PROTOCOLS)('serves a program that speaks %s', async (protocol) => {
    await withBridge({ model: scriptedModel(SCRIPT) }, async ({ context, ask }) => {
      const { stdout, stderr } = await ask(protocol)
      expect(stderr).toBe('')
      expect(stdout).toBe('saw one/|two/|café\n')
      expect(context.state.output).toBe('saw one/|two/|café')
      expect(context.state.messages.map(({ role }) => role)).toEqual([
        ...['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'tool', 'assistant'],
      ])
      expect(context.state.messages[2]).toMatchObject({
        content: 'Looking.',
        toolCalls: [{ name: 'shell' }, {}],
      })
      expect(context.budget).toMatchObject({ tokens: 45, outputTokens: 15, turns: 3 })
      const calls = context.events.filter(({ type }) => type === 'model-output')
      expect(calls).toHaveLength(3)
      expect(calls[0]).toMatchObject({ tools: [{ name: 'shell', description: 'Runs a shell command.' }] })
    })
  })

  it('ends at a limit: the program is refused, and the agent is told why', async () => {
    await withBridge({ model: scriptedModel(SCRIPT), limits: { turns: 1 } }, async ({ ask, failed }) => {
      expect((await ask('openai-chat')).stderr).toMatch(/403.*limit/)
      expect(failed.reason).toMatchObject({ code: 'limit-exceeded', type: 'turn' })
      expect((await ask('anthropic')).stderr).toMatch(/403.*limit/)
    })
  })

  it.each(['openai-chat', 'openai-responses', 'anthropic', 'google'])(
    'tells a program that speaks %s what it can do something about, and goes on',
    async (protocol) => {
      const tooLong = new ModelError('the conversation is too long', {
        kind: 'context-length',
        model: 'm',
        status: 400,
      })
      const model = scriptedModel(() => {
        throw tooLong
      })
      await withBridge({ model }, async ({ ask, failed }) => {
        expect((await ask(protocol)).stderr).toMatch(/400[\s\S]*the conversation is too long/)
        expect(failed.aborted).toBe(false)
      })
    },
  )

  it('ends with a model that failed for good', async () => {
    const model = scriptedModel(() => {
      throw new ModelError('no such key', { kind: 'authentication', model: 'm', status: 401 })
    })
    await withBridge({ model }, async ({ ask, failed }) => {
      expect((await ask('openai-chat')).exitCode).toBe(1)
      expect(failed.reason).toMatchObject({ code: 'model-authentication' })
    })
  })

  it('answers with the model that stands for the name that a program gives', async () => {
    const grader = scriptedModel([{ text: 'graded' }], { name: 'grader' })
    const other = scriptedModel([{ text: 'other' }], { name: 'other' })
    const models = { 'gpt-stand-in': 'grader', 'claude-stand-in': other }
    const options = { model: scriptedModel([{ text: 'main' }]), roles: { grader }, bridge: { models } }
    await withBridge(options, async ({ ask, context }) => {
      expect((await ask('openai-chat')).stdout).toBe('graded\n')
      expect((await ask('anthropic')).stdout).toBe('other\n')
      expect((await ask('google')).stdout).toBe('main\n')
      expect(context.events).toMatchObject([{ role: 'grader' }, { model: 'other' }, { model: 'scripted' }])
    })
  })

  it('refuses what is none of a protocol, and lists its models', async () => {
    await withBridge({ model: scriptedModel([]) }, async ({ url }) => {
      const post = async (path: string, body: string) => {
        const response = await fetch(`${url}${path}`, { method: 'POST', body })
        return [response.status, await response.text()]
      }
      expect(await post('/v1/chat/completions', '{')).toEqual([400, expect.stringContaining('no JSON')])
      expect(await post('/v1/messages', '{}')).toEqual([400, expect.stringContaining('model')])
      expect(await post('/v1/embeddings', '{}')).toEqual([404, expect.stringContaining('/v1/embeddings')])
      const image = { type: 'image_url', image_url: { url: 'http://example.com/a.png' } }
      const body = { model: 'm', messages: [{ role: 'user', content: [image] }] }
      expect(await post('/v1/chat/completions', JSON.stringify(body))).toEqual([
        400,
        expect.stringContaining('only data URIs'),
      ])
      expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({ data: [{ id: 'scripted' }] })
    })
  })
})
