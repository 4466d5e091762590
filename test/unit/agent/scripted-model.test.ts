import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../../src/agent/scripted-model.ts'

const request = { messages: [], tools: [] }

describe('scriptedModel', () => {
  it('answers in order, with the stop reason that fits', async () => {
    const model = scriptedModel([{ text: 'wait', toolCalls: [{ name: 'a', arguments: {} }] }, 'done'])
    expect(await model.generate(request)).toMatchObject({
      message: { content: 'wait', toolCalls: [{ id: 'call-1-1', name: 'a' }] },
      stopReason: 'tool-calls',
    })
    expect(await model.generate(request)).toMatchObject({ message: { content: 'done' }, stopReason: 'stop' })
  })

  it('says which call had no answer left', async () => {
    const model = scriptedModel(['only one'], { name: 'tester' })
    await model.generate(request)
    await expect(model.generate(request)).rejects.toMatchObject({
      code: 'script-ended',
      message: "the script of model 'tester' has 1 answers, but call 2 was made",
    })
  })

  it('gives a function the request and the number of calls before', async () => {
    const model = scriptedModel(({ messages }, call) => `${messages.length} messages, ${call} calls before`)
    await model.generate(request)
    const output = await model.generate({ ...request, messages: [{ role: 'user', content: 'x' }] })
    expect(output.message.content).toBe('1 messages, 1 calls before')
  })

  it('does not answer a cancelled request', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(scriptedModel(['x']).generate({ ...request, signal })).rejects.toThrow('enough')
  })
})
