import { describe, expect, it } from 'vitest'
import { nop } from '../../../src/agent/nop.ts'
import { oracle } from '../../../src/agent/oracle.ts'
import { ExecTimeoutError, SandboxUnavailableError } from '../../../src/errors.ts'
import { agentContext } from '../../support/agent-context.ts'
import { fakeSandbox } from '../../support/fake-sandbox.ts'

const solved = { solution: 'echo 42' }

describe('oracle', () => {
  it('runs the solution as a private file with a first line, and returns what it printed', async () => {
    let file: { content: string; mode: number } | undefined
    const sandbox = fakeSandbox(([path = '']) => {
      file = sandbox.files.get(path)
      return { stdout: '42\n' }
    })
    expect(await oracle()(agentContext({ sandbox, sample: solved }))).toBe('42\n')
    expect(file).toEqual({ content: '#!/bin/sh\necho 42', mode: 0o700 })
  })

  it('keeps a first line that the solution has', async () => {
    let content: string | undefined
    const sandbox = fakeSandbox(([path = '']) => {
      content = sandbox.files.get(path)?.content
      return {}
    })
    await oracle()(agentContext({ sandbox, sample: { solution: '#!/usr/bin/env python3\nprint(1)' } }))
    expect(content).toBe('#!/usr/bin/env python3\nprint(1)')
  })

  it('leaves no solution behind, whether it succeeds, fails or is stopped', async () => {
    const partial = { stdout: '', stderr: '', stdoutBytes: 0, stderrBytes: 0, truncated: false }
    const stopped = new ExecTimeoutError('too long', { timeoutMs: 5, partial })
    for (const outcome of [{}, { exitCode: 1 }, stopped]) {
      const sandbox = fakeSandbox(() => outcome)
      await oracle()(agentContext({ sandbox, sample: solved })).catch(() => undefined)
      expect(sandbox.files.size).toBe(0)
    }
  })

  it('fails by name for a sample without a solution', async () => {
    const run = oracle()(agentContext({ sandbox: fakeSandbox() }))
    await expect(run).rejects.toMatchObject({ code: 'config', message: expect.stringContaining("'s1'") })
  })

  it.each([
    [{ exitCode: 3, stderr: 'no such table\n' }, /exit code 3\):\n.*\n?no such table/],
    [{ exitCode: null, signal: 'SIGSEGV' }, /killed by SIGSEGV/],
    [{ launchError: { kind: 'not-found' as const, message: 'no /bin/sh' } }, /could not start: no \/bin\/sh/],
  ])('fails, saying how the solution ended and what it printed last: %j', async (result, message) => {
    const run = oracle()(agentContext({ sandbox: fakeSandbox(() => result), sample: solved }))
    await expect(run).rejects.toMatchObject({
      code: 'solution-failed',
      message: expect.stringMatching(message),
    })
  })

  it('passes on that the sandbox failed', async () => {
    const dead = new SandboxUnavailableError('gone', { reason: 'oom' })
    const run = oracle()(agentContext({ sandbox: fakeSandbox(() => dead), sample: solved }))
    await expect(run).rejects.toBe(dead)
  })

  it('gives its deadline to the solution', async () => {
    const sandbox = fakeSandbox()
    await oracle({ timeoutMs: 9000 })(agentContext({ sandbox, sample: solved }))
    expect(sandbox.commands[0]?.options.timeoutMs).toBe(9000)
  })
})

describe('nop', () => {
  it('needs no sandbox and no model, and has no output', async () => {
    expect(await nop()(agentContext())).toBeUndefined()
  })
})
