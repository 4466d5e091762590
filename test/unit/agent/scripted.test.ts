import { describe, expect, it } from 'vitest'
import { scripted } from '../../../src/agent/scripted.ts'
import { agentContext } from '../../support/agent-context.ts'
import { fakeSandbox } from '../../support/fake-sandbox.ts'

describe('scripted', () => {
  it('runs texts by sh and lists as they are, in order', async () => {
    const sandbox = fakeSandbox()
    await scripted(['echo $HOME', ['ls', '-l', '/a b']])(agentContext({ sandbox }))
    expect(sandbox.commands.map(({ command }) => command)).toEqual([
      ['sh', '-c', 'echo $HOME'],
      ['ls', '-l', '/a b'],
    ])
  })

  it('goes on after a command that failed, and its output is that of the last one', async () => {
    const sandbox = fakeSandbox(([name]) => (name === 'false' ? { exitCode: 1 } : { stdout: 'last' }))
    const context = agentContext({ sandbox })
    await scripted([['false'], ['echo']])(context)
    expect(context.state.output).toBe('last')
  })

  it('asks a function for the commands, with the context', async () => {
    const sandbox = fakeSandbox()
    await scripted(async ({ sample }) => [['echo', sample.input]])(
      agentContext({ sandbox, sample: { input: 'hello' } }),
    )
    expect(sandbox.commands[0]?.command).toEqual(['echo', 'hello'])
  })

  it('fails when a command cannot be started', async () => {
    const sandbox = fakeSandbox(() => ({ launchError: { kind: 'not-found', message: 'no sh here' } }))
    await expect(scripted(['true'])(agentContext({ sandbox }))).rejects.toMatchObject({
      code: 'command-not-started',
      message: expect.stringContaining('no sh here'),
    })
  })

  it('starts no further command once the sample is cancelled', async () => {
    const controller = new AbortController()
    const sandbox = fakeSandbox(() => {
      controller.abort(new Error('enough'))
      return {}
    })
    const run = scripted(['one', 'two'])(agentContext({ sandbox, signal: controller.signal }))
    await expect(run).rejects.toThrow('enough')
    expect(sandbox.commands).toHaveLength(1)
  })
})
