import { describe, expect, it } from 'vitest'
import { toolFailure } from '../../../../src/agent/loop/tool-failure.ts'
import { bash } from '../../../../src/agent/tools/bash.ts'
import { ExecTimeoutError, SandboxFileError } from '../../../../src/errors.ts'
import type { Content } from '../../../../src/sample/content.ts'
import { agentContext } from '../../../support/agent-context.ts'
import { type FakeCommand, fakeSandbox } from '../../../support/fake-sandbox.ts'

const notFound = { launchError: { kind: 'not-found', message: 'no bash here' } } as const

function run(command: FakeCommand, options = {}): Promise<Content> {
  return bash(options).call({ command: 'x' }, agentContext({ sandbox: fakeSandbox(command) }))
}

describe('bash', () => {
  it('runs the command by bash, with a deadline, as the user and in the folder asked for', async () => {
    const sandbox = fakeSandbox()
    await bash({ user: 'agent', cwd: '/w' }).call({ command: 'ls | wc -l' }, agentContext({ sandbox }))
    expect(sandbox.commands).toMatchObject([
      {
        command: ['bash', '-c', 'ls | wc -l'],
        options: { user: 'agent', cwd: '/w', timeoutMs: 120_000 },
      },
    ])
  })

  it.each([
    [{ stdout: 'out\n' }, 'out'],
    [{ stdout: 'out\n', stderr: 'err\n' }, 'out\n[stderr]\nerr'],
    [{ stderr: 'err', exitCode: 2 }, '[stderr]\nerr\n[exit code 2]'],
    [{ exitCode: null, signal: 'SIGKILL' }, '[killed by SIGKILL]'],
    [{}, '[no output]'],
    [{ stdout: 'tail', truncated: true }, '[only the last part of the output was kept]\ntail'],
  ])('shows %j as %j', async (result, shown) => {
    expect(await run(() => result)).toBe(shown)
  })

  it('shows the beginning and the end of a long output, and how much is missing', async () => {
    const stdout = `${'a'.repeat(600)}${'b'.repeat(600)}`
    const shown = await run(() => ({ stdout }), { maxOutputCharacters: 100 })
    expect(shown).toBe(`${'a'.repeat(50)}\n[... 1100 characters left out ...]\n${'b'.repeat(50)}`)
  })

  it('runs in the service asked for', async () => {
    const db = fakeSandbox(() => ({ stdout: 'from db' }), 'db')
    const context = agentContext({ services: { db } })
    expect(await bash({ service: 'db' }).call({ command: 'x' }, context)).toBe('from db')
  })

  it('fails the sample when the image has no bash', async () => {
    await expect(run(() => notFound)).rejects.toMatchObject({ code: 'config' })
  })

  it('tells the model when bash is no longer there', async () => {
    const sandbox = fakeSandbox(() => (sandbox.commands.length > 1 ? notFound : {}))
    const context = agentContext({ sandbox })
    const tool = bash()
    await tool.call({ command: 'rm /bin/bash' }, context)
    await expect(tool.call({ command: 'ls' }, context)).rejects.toMatchObject({ code: 'tool-not-found' })
  })

  it('tells the model that its command is too long', async () => {
    const result = { launchError: { kind: 'arguments-too-long', message: 'too long' } } as const
    await expect(run(() => result)).rejects.toMatchObject({ code: 'tool-failed' })
  })
})

describe('toolFailure', () => {
  it('shows what a command had printed before its deadline', () => {
    const partial = { stdout: 'step 1\n', stderr: '', stdoutBytes: 7, stderrBytes: 0, truncated: false }
    const failure = toolFailure(new ExecTimeoutError('too long', { timeoutMs: 1500, partial }))
    expect(failure?.error.kind).toBe('timeout')
    expect(failure?.content).toBe('the command was stopped after 1.5 seconds\nstep 1')
  })

  it.each([
    ['not-found', 'not-found'],
    ['permission', 'permission'],
    ['too-large', 'output-limit'],
    ['is-a-directory', 'failed'],
  ] as const)('tells of a file error %s as %s', (kind, told) => {
    const failure = toolFailure(new SandboxFileError('no', { kind, path: '/x' }))
    expect(failure?.error).toEqual({ kind: told, message: 'no' })
  })
})
