import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { toolLoop } from '../../../../src/agent/loop/tool-loop.ts'
import { type McpServerOptions, mcpServer } from '../../../../src/agent/mcp/mcp-server.ts'
import { scriptedModel } from '../../../../src/agent/scripted-model.ts'
import { agentContext } from '../../../support/agent-context.ts'
import { hasGuest, runGuest } from '../../sandbox/guest/guest-process.ts'

const SERVER = fileURLToPath(new URL('../../../support/stand-in/mcp-server.mjs', import.meta.url))
const command = [process.execPath, SERVER]

/** What the model is shown for calls of a server's tools, in one turn. */
async function shown(options: McpServerOptions, calls: readonly (readonly [string, object?])[]) {
  await using guest = await runGuest()
  const toolCalls = calls.map(([name, given = {}]) => ({ name, arguments: { ...given } }))
  const context = agentContext({ model: scriptedModel([{ toolCalls }, 'done']), sandbox: guest.sandbox })
  await toolLoop({ tools: [mcpServer(options)] })(context)
  const results = context.state.messages.flatMap((message) =>
    message.role === 'tool' ? [[message.content, message.error?.kind]] : [],
  )
  return { results, context, folder: guest.folder }
}

describe.skipIf(!hasGuest)('tools of an MCP server', { timeout: 30_000 }, () => {
  it('in the sandbox: results, errors, pictures and deadlines of its calls', async () => {
    const { results, folder, context } = await shown(
      { name: 's', command, env: { GREETING: 'hi' }, timeoutMs: 300 },
      [['add', { a: 2, b: 3 }], ['where'], ['fail'], ['add', { a: 'x' }], ['wait'], ['picture']],
    )
    expect(results).toEqual([
      ['5', undefined],
      [expect.stringMatching(new RegExp(`^${folder} hi`)), undefined],
      ['it went wrong', 'failed'],
      [expect.stringContaining('a'), 'failed'],
      [expect.stringContaining('timed out'), 'timeout'],
      [[{ type: 'image', data: 'AAAA', mediaType: 'image/png' }], undefined],
    ])
    const [model] = context.events.filter(({ type }) => type === 'model-output')
    expect(model).toMatchObject({
      tools: [{ name: 'add', parameters: { required: ['a', 'b'] } }, {}, {}, {}, {}],
    })
  })

  it('on the host: without its variables; some tools alone, under names of their server', async () => {
    process.env.HOST_SECRET = 'do not pass'
    const options = { name: 'sums', in: 'host', command, tools: ['a*', 'w*re'], prefix: true } as const
    const { results } = await shown(options, [['sums_add', { a: 1, b: 1 }], ['sums_where'], ['sums_fail']])
    expect(results).toEqual([
      ['2', undefined],
      [expect.not.stringContaining('do not pass'), undefined],
      [expect.stringContaining("there is no tool 'sums_fail'"), 'unknown-tool'],
    ])
    delete process.env.HOST_SECRET
  })

  it('that does not start is an error that says so', async () => {
    const broken = ['sh', '-c', 'echo no such module >&2; exit 1']
    await expect(shown({ name: 'broken', command: broken }, [])).rejects.toThrow(
      /MCP server 'broken': does not answer[\s\S]*no such module/,
    )
    await expect(shown({ name: 'none', command: ['no-such-server'] }, [])).rejects.toThrow(
      /MCP server 'none'/,
    )
  })
})
