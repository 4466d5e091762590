import { describe, expect, it } from 'vitest'
import { ModelCalls } from '../../../src/agent/calls/model-calls.ts'
import type { Message } from '../../../src/agent/messages.ts'
import type { Model, ModelOutput } from '../../../src/agent/model.ts'
import { scriptedModel } from '../../../src/agent/scripted-model.ts'
import type { ModelEvent } from '../../../src/agent/transcript.ts'
import { ModelError } from '../../../src/errors.ts'
import { agentContext } from '../../support/agent-context.ts'

const user = (content: string): Message => ({ role: 'user', content })
const ask = (messages: readonly Message[] = [user('hi')]) => ({ messages, tools: [] })
const usage = { inputTokens: 60, outputTokens: 40 }
const modelEvents = (context: ReturnType<typeof agentContext>) =>
  context.events.filter((event): event is ModelEvent => event.type === 'model-output')

/** Answers once it is let. */
function gatedModel() {
  const waiting: (() => void)[] = []
  const model: Model = {
    name: 'gated',
    generate: () =>
      new Promise<ModelOutput>((resolve) => {
        waiting.push(() =>
          resolve({ message: { role: 'assistant', content: 'x' }, stopReason: 'stop', usage }),
        )
      }),
  }
  return { model, waiting }
}

describe('a metered model', () => {
  it('counts calls made at once each once, and lets no more than those in flight overshoot', async () => {
    const { model, waiting } = gatedModel()
    const context = agentContext({
      model,
      limits: { tokens: 250 },
      calls: new ModelCalls({ maxConnections: 4 }),
    })
    const calls = Array.from({ length: 10 }, () => context.model.generate(ask()))
    const settled = Promise.allSettled(calls)
    while (waiting.length < 4) await new Promise(setImmediate)
    for (const answer of waiting) answer()
    const results = await settled
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    expect(results.filter(({ status }) => status === 'rejected')).toMatchObject(
      Array.from({ length: 6 }, () => ({ reason: { code: 'limit-exceeded', type: 'token', limit: 250 } })),
    )
    expect(context.budget.tokens).toBe(400)
    expect(waiting).toHaveLength(4)
  })

  it('is metered once, however often it is passed on', async () => {
    const context = agentContext({ model: scriptedModel(() => ({ text: 'x', usage })) })
    await context.metered(context.metered(context.model)).generate(ask())
    expect(context.budget.tokens).toBe(100)
    expect(modelEvents(context)).toHaveLength(1)
  })

  it('meters models of one’s own, and those of roles under their role', async () => {
    const roles = { grader: scriptedModel(['good'], { name: 'judge' }) }
    const context = agentContext({ model: scriptedModel(['a', 'b']), roles })
    await context.model.generate(ask())
    await context.modelRole('grader').generate(ask())
    await context.modelRole('helper').generate(ask())
    await context.metered(scriptedModel(['c'], { name: 'mine' })).generate(ask())
    expect(modelEvents(context).map(({ model, role }) => [model, role])).toEqual([
      ['scripted', undefined],
      ['judge', 'grader'],
      ['scripted', 'helper'],
      ['mine', undefined],
    ])
  })

  it('calls with the settings of the run, and those of the call before them', async () => {
    const seen: unknown[] = []
    const model = scriptedModel(({ config }) => {
      seen.push(config)
      return 'x'
    })
    const context = agentContext({ model, config: { temperature: 0, seed: 1 } })
    await context.model.generate({ ...ask(), config: { temperature: 1 } })
    expect(seen).toEqual([{ temperature: 1, seed: 1 }])
    expect(modelEvents(context)[0]?.config).toEqual({ temperature: 1, seed: 1 })
  })

  it('ends with the sample, and with the signal of the call', async () => {
    const sample = new AbortController()
    const { model } = gatedModel()
    const context = agentContext({ model, signal: sample.signal })
    const own = new AbortController()
    const calls = [context.model.generate({ ...ask(), signal: own.signal }), context.model.generate(ask())]
    own.abort(new Error('not needed'))
    await expect(calls[0]).rejects.toThrow('not needed')
    sample.abort(new Error('over'))
    await expect(calls[1]).rejects.toThrow('over')
    await expect(context.model.generate(ask())).rejects.toThrow('over')
  })

  it('records attempts that failed, and the raw call of one that failed at last', async () => {
    const outcomes = [
      new ModelError('busy', { kind: 'overloaded', model: 'm', status: 503 }),
      new ModelError('refused', { kind: 'request', model: 'm', call: { request: { messages: [{ a: 1 }] } } }),
    ]
    const model: Model = { name: 'm', generate: () => Promise.reject(outcomes.shift()) }
    const context = agentContext({ model, calls: new ModelCalls({ sleep: async () => undefined }) })
    await expect(context.model.generate(ask())).rejects.toThrow('refused')
    expect(context.events).toMatchObject([
      { type: 'model-retry', model: 'm', attempt: 1, error: { kind: 'overloaded', status: 503 } },
      { type: 'model-output', error: 'refused', call: { request: {}, key: 'messages', items: [{ a: 1 }] } },
    ])
  })

  it('does not count what came from the cache', async () => {
    const context = agentContext({
      model: {
        name: 'm',
        generate: async () => ({ ...(await scriptedModel([{ usage }]).generate(ask())), cache: 'read' }),
      },
    })
    await context.model.generate(ask())
    expect(context.budget.tokens).toBe(0)
  })
})

describe('what is recorded of model calls', () => {
  const said = (events: readonly ModelEvent[]): Message[][] => {
    const list: Message[] = []
    return events.map(({ input, inputFrom, inputRefs = [], output }) => {
      expect(inputFrom).toBe(list.length)
      list.push(...input)
      const messages = inputRefs.flatMap(([start, end]) => list.slice(start, end))
      if (output) list.push(output.message)
      return messages
    })
  }

  it('gives every conversation back, whether it grows, is cut, branches, or is parsed anew each time', async () => {
    const context = agentContext({ model: scriptedModel((_request, call) => `answer ${call}`) })
    const conversations: Message[][] = []
    const call = async (messages: readonly Message[]) => {
      conversations.push([...messages])
      return (await context.model.generate(ask(messages))).message
    }
    const first = [user('a')]
    first.push(await call(first), user('b'))
    first.push(await call(first))
    await call([{ role: 'system', content: 'summary' }, ...first.slice(2), user('c')])
    await call(JSON.parse(JSON.stringify([...first, user('c'), user('a')])) as Message[])
    await call([...first.slice(0, 1), user('other'), ...first.slice(1, 2)])
    const events = modelEvents(context)
    expect(said(events)).toEqual(conversations)
    expect(events.map(({ input }) => input.length)).toEqual([1, 1, 2, 0, 1])
  })

  it('is as long as what is new, also of raw calls', async () => {
    const model: Model = {
      name: 'm',
      generate: async ({ messages, tools }) => ({
        message: { role: 'assistant', content: `x${messages.length}` },
        stopReason: 'stop',
        usage,
        call: { request: JSON.stringify({ model: 'm', messages, tools }), response: { ok: true } },
      }),
    }
    const tools = [{ name: 't', description: 'd', parameters: {} }]
    const context = agentContext({ model })
    const messages = [user('question '.repeat(100))]
    for (let turn = 0; turn < 30; turn++) {
      messages.push(
        (await context.model.generate({ messages: [...messages], tools })).message,
        user(`${turn}`),
      )
    }
    const sizes = modelEvents(context).map((event) => JSON.stringify(event).length)
    expect(Math.max(...sizes.slice(1))).toBeLessThan(Math.min(...sizes.slice(1)) * 1.5)
    expect(modelEvents(context).map((event) => event.tools?.length)).toEqual([
      1,
      ...Array(29).fill(undefined),
    ])
    const raw = modelEvents(context).at(-1)?.call
    expect(raw).toMatchObject({ request: { model: 'm' }, key: 'messages', itemsRefs: [[0, 59]] })
  })
})
