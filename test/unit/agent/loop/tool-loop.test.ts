import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toolLoop } from '../../../../src/agent/loop/tool-loop.ts'
import type { Message } from '../../../../src/agent/messages.ts'
import { scriptedModel } from '../../../../src/agent/scripted-model.ts'
import { defineTool, ToolCallError } from '../../../../src/agent/tool.ts'
import { submit } from '../../../../src/agent/tools/submit.ts'
import { ExecAbortedError, LimitExceededError, SandboxUnavailableError } from '../../../../src/errors.ts'
import { agentContext } from '../../../support/agent-context.ts'

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  parameters: z.object({ text: z.string() }),
  execute: ({ text }) => text,
})

function failing(error: Error) {
  return defineTool({
    name: 'fail',
    description: 'Fails.',
    parameters: z.object({}),
    execute: () => Promise.reject(error),
  })
}

const call = (name: string, args: Record<string, unknown> = {}) => ({
  toolCalls: [{ name, arguments: args }],
})
const roles = (messages: readonly Message[]) => messages.map(({ role }) => role)

describe('toolLoop', () => {
  it('shows tool results to the model until it calls no tool, and its last text is the output', async () => {
    const model = scriptedModel([call('echo', { text: 'hi' }), 'done'])
    const context = agentContext({ model })
    await toolLoop({ tools: [echo], system: 'Be brief.' })(context)
    expect(roles(context.state.messages)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant'])
    expect(context.state.messages[1]).toEqual({ role: 'user', content: context.sample.input })
    expect(context.state.messages[3]).toMatchObject({
      content: 'hi',
      toolName: 'echo',
      toolCallId: 'call-1-1',
    })
    expect(context.state.output).toBe('done')
  })

  it('ends when an answer is submitted, and returns it', async () => {
    const model = scriptedModel([call('submit', { answer: '42' }), 'never asked'])
    expect(await toolLoop({ tools: [submit()] })(agentContext({ model }))).toBe('42')
  })

  it('goes on after a submission that could not be read', async () => {
    const model = scriptedModel([call('submit', { answr: '42' }), call('submit', { answer: '43' })])
    expect(await toolLoop({ tools: [submit()] })(agentContext({ model }))).toBe('43')
  })

  it('prefers its own model to that of the run', async () => {
    const context = agentContext()
    await toolLoop({ tools: [], model: scriptedModel(['mine']) })(context)
    expect(context.state.output).toBe('mine')
  })

  it('keeps a conversation that there is already', async () => {
    const context = agentContext({ model: scriptedModel(['ok']) })
    context.state.messages.push({ role: 'user', content: 'Another question.' })
    await toolLoop({ tools: [] })(context)
    expect(roles(context.state.messages)).toEqual(['user', 'assistant'])
  })

  it('runs the calls of one turn at once, and keeps their order', async () => {
    let arrived = 0
    let open: () => void
    const bothThere = new Promise<void>((resolve) => {
      open = resolve
    })
    const meet = defineTool({
      name: 'meet',
      description: 'Waits for the other one.',
      parameters: z.object({ who: z.string() }),
      async execute({ who }) {
        if (++arrived === 2) open()
        await bothThere
        return who
      },
    })
    const turn = ['a', 'b'].map((who) => ({ name: 'meet', arguments: { who } }))
    const context = agentContext({ model: scriptedModel([{ toolCalls: turn }, 'done']) })
    await toolLoop({ tools: [meet] })(context)
    expect(context.state.messages.slice(2, 4).map(({ content }) => content)).toEqual(['a', 'b'])
  })

  it('tells the model about its own mistakes, typed', async () => {
    const table = [
      [call('ehco', { text: 'x' }), 'unknown-tool'],
      [call('echo', { txet: 'x' }), 'parsing'],
      [{ toolCalls: [{ name: 'echo', arguments: {}, parseError: 'unexpected end' }] }, 'parsing'],
      [call('fail'), 'permission'],
    ] as const
    const model = scriptedModel([...table.map(([output]) => output), 'done'])
    const context = agentContext({ model })
    await toolLoop({ tools: [echo, failing(new ToolCallError('permission', 'not yours'))] })(context)
    const kinds = context.state.messages.flatMap((message) =>
      message.role === 'tool' ? [message.error?.kind] : [],
    )
    expect(kinds).toEqual(table.map(([, kind]) => kind))
  })

  it.each([
    new SandboxUnavailableError('gone', { reason: 'exited' }),
    new ExecAbortedError('stopped', {
      partial: { stdout: '', stderr: '', stdoutBytes: 0, stderrBytes: 0, truncated: false },
    }),
    new LimitExceededError({ type: 'custom', limit: 1 }),
    new TypeError('a bug in the tool'),
  ])('never shows the model what is not of its making: $name', async (error) => {
    const context = agentContext({ model: scriptedModel([call('fail'), 'never asked']) })
    await expect(toolLoop({ tools: [failing(error)] })(context)).rejects.toBe(error)
    expect(roles(context.state.messages)).toEqual(['user', 'assistant'])
  })

  it('keeps the results of the other calls of a turn in which one ended the sample', async () => {
    const turn = [
      { name: 'fail', arguments: {} },
      { name: 'echo', arguments: { text: 'kept' } },
    ]
    const context = agentContext({ model: scriptedModel([{ toolCalls: turn }]) })
    await expect(toolLoop({ tools: [echo, failing(new Error('bug'))] })(context)).rejects.toThrow('bug')
    expect(context.state.messages.at(-1)).toMatchObject({ role: 'tool', content: 'kept' })
  })

  it('refuses two tools of one name', () => {
    expect(() => toolLoop({ tools: [submit(), echo, submit()] })).toThrow("two tools are named 'submit'")
  })
})

describe('limits of a toolLoop', () => {
  const usage = { inputTokens: 60, outputTokens: 40 }
  const endless = () => scriptedModel(() => ({ ...call('echo', { text: 'again' }), text: 'thinking', usage }))

  it.each([
    [{ limits: { turns: 3 } }, 'turn', 3],
    [{ limits: { tokens: 250 } }, 'token', 3],
    [{ limits: { messages: 5 } }, 'message', 2],
    [{ maxTurns: 4 }, 'turn', 4],
  ] as const)('ends by %j, with all messages so far', async (given, type, turns) => {
    const context = agentContext({ model: endless(), ...given })
    const run = toolLoop({ tools: [echo], ...given })(context)
    await expect(run).rejects.toMatchObject({ code: 'limit-exceeded', type })
    expect(context.state.messages.filter(({ role }) => role === 'assistant')).toHaveLength(turns)
    expect(context.state.output).toBe('thinking')
  })

  it('asks the model nothing more once the sample is cancelled', async () => {
    const controller = new AbortController()
    let calls = 0
    const model = scriptedModel(() => {
      calls++
      controller.abort(new Error('enough'))
      return call('echo', { text: 'x' })
    })
    const run = toolLoop({ tools: [echo] })(agentContext({ model, signal: controller.signal }))
    await expect(run).rejects.toThrow('enough')
    expect(calls).toBe(1)
  })
})

describe('the transcript of a toolLoop', () => {
  it('has each message of the conversation once, and where in it those of a call are', async () => {
    const context = agentContext({ model: scriptedModel([call('echo', { text: 'hi' }), 'done']) })
    await toolLoop({ tools: [echo] })(context)
    const calls = context.events.filter((event) => event.type === 'model-output')
    expect(calls.map(({ inputFrom, input, inputRefs }) => [inputFrom, roles(input), inputRefs])).toEqual([
      [0, ['user'], [[0, 1]]],
      [2, ['tool'], [[0, 3]]],
    ])
    expect(context.events.map(({ type }) => type)).toEqual(['model-output', 'tool-call', 'model-output'])
  })

  it('has a model call that failed, and the tool call that ended the sample', async () => {
    const context = agentContext({ model: scriptedModel([call('fail')]) })
    await toolLoop({ tools: [failing(new Error('bug'))] })(context).catch(() => undefined)
    expect(context.events.at(-1)).toMatchObject({
      type: 'tool-call',
      error: { kind: 'failed', message: 'bug' },
    })
    const empty = agentContext({ model: scriptedModel([]) })
    await toolLoop({ tools: [] })(empty).catch(() => undefined)
    expect(empty.events).toMatchObject([
      { type: 'model-output', error: expect.stringContaining('0 answers') },
    ])
  })
})
