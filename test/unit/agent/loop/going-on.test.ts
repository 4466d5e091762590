import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { approve, reject } from '../../../../src/agent/loop/approval.ts'
import { askAPerson } from '../../../../src/agent/loop/ask-a-person.ts'
import { summarize, trim } from '../../../../src/agent/loop/compaction.ts'
import { toolLoop } from '../../../../src/agent/loop/tool-loop.ts'
import type { Message } from '../../../../src/agent/messages.ts'
import { scriptedModel } from '../../../../src/agent/scripted-model.ts'
import { defineTool } from '../../../../src/agent/tool.ts'
import { submit } from '../../../../src/agent/tools/submit.ts'
import { ModelError } from '../../../../src/errors.ts'
import { agentContext } from '../../../support/agent-context.ts'
import { fakeSandbox } from '../../../support/fake-sandbox.ts'

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  parameters: z.object({ text: z.string() }),
  execute: ({ text }) => text,
})
const call = (name: string, args: Record<string, unknown> = {}) => ({
  toolCalls: [{ name, arguments: args }],
})
const texts = (messages: readonly Message[]) => messages.map(({ role, content }) => `${role}: ${content}`)

describe('an answer that is handed in', () => {
  it('is tried so often, with what the feedback says between', async () => {
    const answers = ['1', '2', '3']
    const model = scriptedModel(answers.map((answer) => call('submit', { answer })))
    const context = agentContext({
      model,
      sandbox: fakeSandbox(),
      sample: { tests: { '/t': 'hidden' } } as never,
    })
    const seen: unknown[] = []
    const feedback = ({ answer, attempt, sample }: { answer: string; attempt: number; sample: object }) => {
      seen.push([answer, attempt, 'tests' in sample])
      return answer === '2' ? true : 'Not yet.'
    }
    expect(await toolLoop({ tools: [submit()], attempts: { count: 3, feedback } })(context)).toBe('2')
    expect(seen.map((one) => (one as unknown[]).slice(0, 2))).toEqual([
      ['1', 1],
      ['2', 2],
    ])
    expect(texts(context.state.messages)).toContain('user: Not yet.')
  })

  it('counts after its last attempt, whatever it is', async () => {
    const model = scriptedModel([call('submit', { answer: 'a' }), call('submit', { answer: 'b' })])
    const context = agentContext({ model, sandbox: fakeSandbox() })
    const attempts = { count: 2, feedback: () => 'Wrong.' }
    expect(await toolLoop({ tools: [submit()], attempts })(context)).toBe('b')
  })
})

describe('a model that calls no tool', () => {
  it('is told to go on where it could hand in an answer, three times in a row', async () => {
    const model = scriptedModel(['hm', call('echo', { text: 'x' }), 'hm', 'hm', 'hm', 'I am stuck'])
    const context = agentContext({ model })
    expect(await toolLoop({ tools: [echo, submit()] })(context)).toBeUndefined()
    expect(context.state.output).toBe('I am stuck')
    expect(
      context.state.messages.filter(({ content }) => String(content).includes('call submit')),
    ).toHaveLength(4)
  })

  it('is told what the task says, or is done', async () => {
    const context = agentContext({ model: scriptedModel(['hm', call('submit', { answer: '1' })]) })
    expect(await toolLoop({ tools: [submit()], onStop: 'And now?' })(context)).toBe('1')
    expect(texts(context.state.messages)[2]).toBe('user: And now?')
    const done = agentContext({ model: scriptedModel(['done']) })
    expect(await toolLoop({ tools: [submit()], onStop: false })(done)).toBeUndefined()
  })
})

describe('a conversation that has become too long', () => {
  const tooLong = () => new ModelError('too long', { kind: 'context-length', model: 'scripted', status: 400 })
  /** Calls echo until it is done; refuses more messages than it can hold. */
  const narrow = (most: number, calls: number) =>
    scriptedModel(({ messages, tools }) => {
      if (tools.length === 0) return 'a summary'
      if (messages.length > most) throw tooLong()
      const last = messages.at(-1)
      const done = last?.role === 'tool' ? Number(last.content) : 0
      return done >= calls ? 'done' : call('echo', { text: String(done + 1) })
    })

  it.each([
    ['trim', trim(), '[Earlier messages were left out to make room.]'],
    ['summarize', summarize(), 'Summary of the work so far:\na summary'],
  ])('goes on after %s, with its beginning and whole calls', async (_name, compaction, notice) => {
    const context = agentContext({ model: narrow(12, 30) })
    await toolLoop({ tools: [echo], system: 'Be brief.', compaction })(context)
    const { messages } = context.state
    expect(context.state.output).toBe('done')
    expect(messages.slice(0, 3)).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: context.sample.input },
      { role: 'user', content: notice },
    ])
    for (const [index, message] of messages.entries())
      if (message.role === 'tool') expect(messages[index - 1]?.role).toBe('assistant')
    const compactions = context.events.filter(
      (event) => event.type === 'info' && event.source === 'compaction',
    )
    expect(compactions.length).toBeGreaterThan(0)
  })

  it('is an error when it cannot be made shorter, or must not', async () => {
    const never = agentContext({
      model: scriptedModel(() => {
        throw tooLong()
      }),
    })
    await expect(toolLoop({ tools: [echo] })(never)).rejects.toMatchObject({ code: 'model-context-length' })
    const not = agentContext({ model: narrow(12, 30) })
    await expect(toolLoop({ tools: [echo], compaction: false })(not)).rejects.toMatchObject({
      code: 'model-context-length',
    })
  })

  it('is made shorter before that where a number of tokens is given', async () => {
    const sizes: number[] = []
    const model = scriptedModel(({ messages }) => {
      sizes.push(messages.length)
      const usage = { inputTokens: messages.length * 10, outputTokens: 0 }
      return sizes.length === 20 ? { text: 'done', usage } : { ...call('echo', { text: 'x' }), usage }
    })
    await toolLoop({ tools: [echo], maxContextTokens: 100 })(agentContext({ model }))
    expect(Math.max(...sizes)).toBeLessThan(14)
  })
})

describe('approval of calls', () => {
  const asks = (answers: string[]) => askAPerson({ ask: async () => answers.shift() ?? 'no' })
  const run = async (approval: Parameters<typeof toolLoop>[0]['approval'], text = 'x') => {
    const context = agentContext({ model: scriptedModel([call('echo', { text }), 'done']) })
    const outcome = await toolLoop({ tools: [echo], approval })(context).catch((error: unknown) => error)
    return { outcome, context, result: context.state.messages[2] }
  }

  it('lets calls run, refuses them, by the first policy that says something', async () => {
    expect((await run([approve()])).result).toMatchObject({ content: 'x', error: undefined })
    expect((await run([reject({ arguments: /secret/ }), approve('e*')], 'a secret')).result).toMatchObject({
      error: { kind: 'not-approved' },
    })
    expect((await run([reject({ arguments: /secret/ }), approve('e*')])).result).toMatchObject({
      content: 'x',
    })
    expect((await run([approve('other')])).result).toMatchObject({
      content: 'no policy lets this call run',
      error: { kind: 'not-approved' },
    })
  })

  it('asks a person, again until the answer is one', async () => {
    expect((await run([asks(['', 'perhaps', 'y'])])).result).toMatchObject({ content: 'x' })
    expect((await run([asks(['NO'])])).result).toMatchObject({ error: { kind: 'not-approved' } })
    expect((await run([asks(['end'])])).outcome).toMatchObject({ code: 'limit-exceeded', type: 'operator' })
  })

  it('may change the arguments, and is in the log', async () => {
    const custom = {
      name: 'tame',
      decide: () => ({ decision: 'modify', arguments: { text: 'tame' } }) as const,
    }
    const { result, context } = await run([custom])
    expect(result).toMatchObject({ content: 'tame' })
    expect(context.events).toContainEqual(
      expect.objectContaining({
        source: 'approval',
        data: expect.objectContaining({ policy: 'tame', decision: 'modify', tool: 'echo' }),
      }),
    )
  })
})
