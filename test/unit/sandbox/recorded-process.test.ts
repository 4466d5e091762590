import { describe, expect, it } from 'vitest'
import { recordedSandbox, type SandboxEvent } from '../../../src/sandbox/recorded-sandbox.ts'
import type { ExecOptions, ProcessExit, ReadOptions, SandboxProcess } from '../../../src/sandbox/sandbox.ts'
import { execResult, fakeSandbox } from '../../support/fake-sandbox.ts'

async function* chunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

function fakeProcess(exit: Promise<ProcessExit>): SandboxProcess {
  return {
    pid: 7,
    stdout: chunks('one', 'three'),
    stderr: chunks('x'),
    write: async () => undefined,
    closeStdin: async () => undefined,
    resize: async () => undefined,
    kill: async () => undefined,
    wait: () => exit,
  }
}

function recordedSpawn(exit: Promise<ProcessExit>, closed?: AbortSignal) {
  const events: SandboxEvent[] = []
  const sandbox = { ...fakeSandbox(), spawn: async () => fakeProcess(exit) }
  return { events, sandbox: recordedSandbox(sandbox, { record: (event) => events.push(event), closed }) }
}

const ended: ProcessExit = { exitCode: 3, signal: null, durationMs: 1, timedOut: false }

describe('a recorded process', () => {
  it('is told once it has ended, with its exit code and the output that was read', async () => {
    let end: (exit: ProcessExit) => void = () => undefined
    const { events, sandbox } = recordedSpawn(
      new Promise((resolve) => {
        end = resolve
      }),
    )
    const process = await sandbox.spawn(['run'], { cwd: '/w', env: { TOKEN: 'secret' } })
    expect(process.pid).toBe(7)
    for await (const _chunk of process.stdout);
    expect(events).toEqual([])
    end(ended)
    expect(await process.wait()).toBe(ended)
    await Promise.resolve()
    expect(events).toMatchObject([
      { action: 'spawn', command: ['run'], options: { cwd: '/w', env: ['TOKEN'] }, exitCode: 3, bytes: 8 },
    ])
  })

  it('is told without an exit code when its handle is closed while it runs, and then no more', async () => {
    const closing = new AbortController()
    const { events, sandbox } = recordedSpawn(new Promise(() => undefined), closing.signal)
    await sandbox.spawn(['server'])
    closing.abort()
    expect(events).toMatchObject([{ action: 'spawn', command: ['server'], bytes: 0 }])
    expect(events[0]?.exitCode).toBeUndefined()
  })

  it('is told when it cannot be waited for', async () => {
    const { events, sandbox } = recordedSpawn(Promise.reject(new Error('lost')))
    const process = await sandbox.spawn(['server'])
    await expect(process.wait()).rejects.toThrow('lost')
    expect(events).toHaveLength(1)
  })
})

describe('caps of a run', () => {
  it('count where a call names none', async () => {
    const caps: unknown[] = []
    const sandbox = recordedSandbox(
      {
        ...fakeSandbox(),
        exec: async (_command: readonly string[], options?: ExecOptions) => {
          caps.push(options?.maxOutputBytes)
          return execResult()
        },
        readFile: async (_path: string, options?: ReadOptions) => {
          caps.push(options?.maxBytes)
          return new Uint8Array()
        },
      },
      { record: () => undefined, maxOutputBytes: 5, maxReadBytes: 6 },
    )
    await sandbox.exec(['x'])
    await sandbox.exec(['x'], { maxOutputBytes: 7 })
    await sandbox.readFile('/x')
    await sandbox.readFile('/x', { maxBytes: 8 })
    expect(caps).toEqual([5, 7, 6, 8])
  })
})
