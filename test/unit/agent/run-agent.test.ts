import { describe, expect, it } from 'vitest'
import type { Agent } from '../../../src/agent/agent.ts'
import { toolLoop } from '../../../src/agent/loop/tool-loop.ts'
import { agentTool, handOff, runAgent } from '../../../src/agent/run-agent.ts'
import { scriptedModel } from '../../../src/agent/scripted-model.ts'
import { currentSpan, span } from '../../../src/agent/span.ts'
import { agentContext } from '../../support/agent-context.ts'

const answering: Agent = async ({ sample, model, state }) => {
  state.messages.push({ role: 'user', content: sample.input })
  const { message } = await model.generate({ messages: state.messages, tools: [] })
  state.messages.push(message)
  return String(message.content)
}

describe('sub-agents', () => {
  it('have a conversation and an input of their own, and the models and limits of the caller', async () => {
    const context = agentContext({ model: scriptedModel(['four']), limits: { turns: 1 } })
    context.state.messages.push({ role: 'user', content: 'before' })
    const state = await runAgent(answering, context, { input: 'two and two?' })
    expect(state).toMatchObject({
      output: 'four',
      messages: [{ content: 'two and two?' }, { content: 'four' }],
    })
    expect(context.state.messages).toHaveLength(1)
    await expect(runAgent(answering, context)).rejects.toMatchObject({ type: 'turn' })
  })

  it('take the conversation over by a hand-off, or are a tool', async () => {
    const context = agentContext({ model: scriptedModel(['later']) })
    context.state.messages.push({ role: 'user', content: 'before' })
    expect(await handOff(answering, context)).toBe('later')
    expect(context.state.messages.map(({ content }) => content)).toEqual([
      'before',
      context.sample.input,
      'later',
    ])
    const model = scriptedModel([
      { toolCalls: [{ name: 'helper', arguments: { task: 'sum up' } }] },
      'the sum',
      'done',
    ])
    const boss = agentContext({ model })
    const helper = agentTool(answering, { name: 'helper', description: 'Helps.' })
    await toolLoop({ tools: [helper] })(boss)
    expect(boss.state.messages[2]).toMatchObject({ role: 'tool', content: 'the sum' })
  })
})

describe('spans', () => {
  it('nest, end also after errors, and are told apart when they run at once', async () => {
    const context = agentContext()
    const inner = (name: string) => span(name, context, async () => [name, currentSpan()] as const)
    const [a, b] = await span('outer', context, () => Promise.all([inner('a'), inner('b')]))
    expect(a[1]).not.toBe(b[1])
    await expect(span('bad', context, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(currentSpan()).toBeUndefined()
    const begins = context.events.filter((event) => event.type === 'span-begin')
    const [outer] = begins
    expect(begins.map(({ name, parent }) => [name, parent])).toEqual([
      ['outer', undefined],
      ['a', outer?.id],
      ['b', outer?.id],
      ['bad', undefined],
    ])
    expect(context.events.filter(({ type }) => type === 'span-end')).toHaveLength(4)
  })
})
