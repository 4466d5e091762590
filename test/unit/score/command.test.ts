import { describe, expect, it } from 'vitest'
import { ExecTimeoutError, SandboxUnavailableError } from '../../../src/errors.ts'
import { type CommandOptions, command } from '../../../src/score/command.ts'
import { scorerContext } from '../../support/agent-context.ts'
import { type FakeCommand, fakeSandbox } from '../../support/fake-sandbox.ts'

function judge(run: FakeCommand, options: CommandOptions = {}) {
  return command(['check'], options).score(scorerContext({ sandbox: fakeSandbox(run) }))
}

describe('command', () => {
  it.each([
    [{ exitCode: 0 }, 1],
    [{ exitCode: 1 }, 0],
    [{ exitCode: 127 }, 0],
    [{ exitCode: null, signal: 'SIGKILL' }, 0],
  ])('by exit code scores %j as %d', async (result, value) => {
    expect(await judge(() => result)).toMatchObject({ value })
  })

  it('explains a score by how the command ended and the last of its output', async () => {
    const score = await judge(() => ({ exitCode: 1, stdout: `${'x'.repeat(5000)}\nlast`, stderr: 'bad' }))
    expect(score?.explanation).toMatch(/^exit code 1\n\[\.\.\.\]x+\nlast\n\[stderr\]\nbad$/)
    expect(score?.explanation?.length).toBeLessThan(2100)
  })

  it.each([
    ['0.75\n', 0.75],
    ['ran 4 of 5 tests\n  4 \n\n', 4],
    ['1e-3', 0.001],
  ])('by number scores %j as %d, whatever the exit code', async (stdout, value) => {
    expect(await judge(() => ({ stdout, exitCode: 1 }), { parse: 'number' })).toMatchObject({ value })
  })

  it('scores 0 by number when the command was killed before it could say one', async () => {
    const result = { stdout: '9', exitCode: null, signal: 'SIGKILL' }
    expect(await judge(() => result, { parse: 'number' })).toMatchObject({ value: 0 })
  })

  it.each(['', 'four', 'NaN', 'Infinity', '4 of 5'])('by number fails on %j', async (stdout) => {
    await expect(judge(() => ({ stdout }), { parse: 'number' })).rejects.toMatchObject({
      code: 'scorer-failed',
    })
  })

  it('scores by a function of the result and the context', async () => {
    const parse: CommandOptions['parse'] = ({ stdout }, { epoch }) => ({ value: `${stdout} ${epoch}` })
    expect(await judge(() => ({ stdout: 'out' }), { parse })).toEqual({ value: 'out 1' })
    expect(await judge(() => ({}), { parse: () => 0.5 })).toMatchObject({ value: 0.5 })
    expect(await judge(() => ({}), { parse: () => null })).toBeNull()
  })

  it('fails when the function gives no number that counts', async () => {
    await expect(judge(() => ({}), { parse: () => Number.NaN })).rejects.toMatchObject({
      code: 'scorer-failed',
    })
  })

  it('scores a deadline that passed as 0, with what was printed until then', async () => {
    const partial = { stdout: 'test 1 ok', stderr: '', stdoutBytes: 9, stderrBytes: 0, truncated: false }
    const score = await judge(() => new ExecTimeoutError('too long', { timeoutMs: 2000, partial }))
    expect(score).toEqual({ value: 0, explanation: 'not done after 2 seconds\ntest 1 ok' })
  })

  it('fails when the command cannot be started, since that says nothing about the agent', async () => {
    const run = judge(() => ({ launchError: { kind: 'not-found', message: 'no such file' } }), {
      name: 'tests',
    })
    await expect(run).rejects.toMatchObject({
      code: 'scorer-failed',
      message: `scorer 'tests' cannot start ["check"]: no such file`,
    })
  })

  it('passes on that the sandbox failed', async () => {
    const dead = new SandboxUnavailableError('gone', { reason: 'oom' })
    await expect(judge(() => dead)).rejects.toBe(dead)
  })

  it('runs what a function of the context names, where and as whom the options say', async () => {
    const db = fakeSandbox()
    const options = { service: 'db', user: 'root', cwd: '/w', timeoutMs: 5000 }
    const scorer = command(async ({ sample }) => ['check', String(sample.target)], options)
    await scorer.score(scorerContext({ services: { db }, sample: { target: 'x' } }))
    expect(db.commands).toMatchObject([
      { command: ['check', 'x'], options: { user: 'root', cwd: '/w', timeoutMs: 5000 } },
    ])
  })
})
