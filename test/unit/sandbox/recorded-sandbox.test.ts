import { describe, expect, it } from 'vitest'
import { SandboxFileError } from '../../../src/errors.ts'
import { recordedSandbox, type SandboxEvent } from '../../../src/sandbox/recorded-sandbox.ts'
import { fakeSandbox } from '../../support/fake-sandbox.ts'

function recorded(run: Parameters<typeof fakeSandbox>[0] = () => ({}), closed?: AbortSignal) {
  const events: SandboxEvent[] = []
  const sandbox = recordedSandbox(fakeSandbox(run, 'web'), { record: (event) => events.push(event), closed })
  return { events, sandbox }
}

describe('a recorded sandbox', () => {
  it('tells of every command with its outcome, and passes the outcome on', async () => {
    const { events, sandbox } = recorded(() => ({ exitCode: 3, stdout: 'out', stderr: 'err' }))
    const result = await sandbox.exec(['ls', '/'], { cwd: '/w', user: 'root', timeoutMs: 5, input: 'ä' })
    expect(result).toMatchObject({ exitCode: 3, stdout: 'out' })
    expect(events).toEqual([
      {
        type: 'sandbox-call',
        startedMs: expect.any(Number),
        durationMs: expect.any(Number),
        service: 'web',
        action: 'exec',
        command: ['ls', '/'],
        options: { cwd: '/w', user: 'root', timeoutMs: 5, inputBytes: 2 },
        exitCode: 3,
        output: 'err\nout',
        bytes: 6,
      },
    ])
  })

  it('keeps names of environment variables, never their values, and of input its size alone', async () => {
    const { events, sandbox } = recorded()
    await sandbox.exec(['env'], { env: { TOKEN: 'secret-value' }, input: 'secret-input' })
    expect(events[0]?.options).toMatchObject({ env: ['TOKEN'], inputBytes: 12 })
    expect(JSON.stringify(events)).not.toContain('secret')
  })

  it('keeps the end of long output', async () => {
    const { events, sandbox } = recorded(() => ({ stdout: `${'x'.repeat(10_000)}end` }))
    await sandbox.exec(['cat'])
    expect(events[0]?.output).toHaveLength(4096)
    expect(events[0]?.output?.endsWith('end')).toBe(true)
    expect(events[0]?.bytes).toBe(10_003)
  })

  it('tells of calls that fail, with code and message, and throws the same error', async () => {
    const error = new SandboxFileError('no such file: /a', { kind: 'not-found', path: '/a' })
    const { events, sandbox } = recorded(() => error)
    await expect(sandbox.exec(['x'])).rejects.toBe(error)
    await expect(sandbox.readFile('/none')).rejects.toThrow('no such file: /none')
    await expect(sandbox.stat('/none')).rejects.toThrow()
    expect(events.map(({ action, error: told }) => [action, told?.code])).toEqual([
      ['exec', 'file-not-found'],
      ['read', 'file-not-found'],
      ['stat', 'unsupported'],
    ])
  })

  it('tells of files by path and size, not by content', async () => {
    const { events, sandbox } = recorded()
    await sandbox.writeFile('/a', 'grüße')
    await sandbox.readText('/a')
    await sandbox.exists('/a')
    await sandbox.remove('/a')
    expect(events.map(({ action, path, bytes }) => [action, path, bytes])).toEqual([
      ['write', '/a', 7],
      ['read', '/a', 7],
      ['stat', '/a', undefined],
      ['remove', '/a', undefined],
    ])
    expect(JSON.stringify(events)).not.toContain('grüße')
  })

  it('can be used no longer once it is closed, and records nothing then', async () => {
    const closed = new AbortController()
    const { events, sandbox } = recorded(undefined, closed.signal)
    await sandbox.exec(['true'])
    closed.abort()
    await expect(sandbox.exec(['true'])).rejects.toMatchObject({ code: 'sandbox-closed' })
    await expect(sandbox.writeFile('/a', '')).rejects.toMatchObject({ code: 'sandbox-closed' })
    expect(events).toHaveLength(1)
  })
})
