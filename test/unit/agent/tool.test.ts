import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toolLoop } from '../../../src/agent/loop/tool-loop.ts'
import { scriptedModel } from '../../../src/agent/scripted-model.ts'
import { defineTool } from '../../../src/agent/tool.ts'
import { agentContext } from '../../support/agent-context.ts'

const definition = {
  description: 'Adds.',
  parameters: z.object({ first: z.number(), second: z.number().default(1) }),
  execute: ({ first, second }: { first: number; second: number }) => String(first + second),
}

describe('defineTool', () => {
  it.each(['', 'two words', 'a'.repeat(65), 'ä'])('refuses the name %j', (name) => {
    expect(() => defineTool({ ...definition, name })).toThrow('expected a tool name')
  })

  it('checks the arguments and fills in defaults', async () => {
    const add = defineTool({ ...definition, name: 'add' })
    expect(await add.call({ first: 2 }, agentContext())).toBe('3')
    await expect(add.call({ first: 'two' }, agentContext())).rejects.toMatchObject({
      code: 'tool-parsing',
      message: expect.stringContaining('first'),
    })
  })

  it('describes the arguments to the model as JSON Schema, defaulted ones not required', async () => {
    const seen: unknown[] = []
    const model = scriptedModel(({ tools }) => {
      seen.push(...tools)
      return 'done'
    })
    await toolLoop({ tools: [defineTool({ ...definition, name: 'add' })] })(agentContext({ model }))
    expect(seen).toMatchObject([
      { name: 'add', description: 'Adds.', parameters: { type: 'object', required: ['first'] } },
    ])
  })
})
