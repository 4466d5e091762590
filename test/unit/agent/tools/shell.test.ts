import { describe, expect, it } from 'vitest'
import { type ShellOptions, shell } from '../../../../src/agent/tools/shell.ts'
import { agentContext } from '../../../support/agent-context.ts'
import { hasGuest, runGuest } from '../../sandbox/guest/guest-process.ts'

async function bench(options?: ShellOptions) {
  const guest = await runGuest()
  const controller = new AbortController()
  const context = agentContext({ sandbox: guest.sandbox, signal: controller.signal })
  const tool = shell(options)
  return {
    ...guest,
    controller,
    call: (args: Record<string, unknown>) => tool.call(args, context),
    [Symbol.asyncDispose]: () => guest[Symbol.asyncDispose](),
  }
}

describe.skipIf(!hasGuest)('the shell tool', { timeout: 60_000 }, () => {
  it('keeps its folder and variables, and tells output and exit code of each command', async () => {
    await using b = await bench()
    expect(await b.call({ command: 'mkdir d && cd d && X=5' })).toBe('[no output]')
    expect(await b.call({ command: 'basename "$PWD"; echo $X; false' })).toBe('d\n5\n[exit code 1]')
    const long = 'y'.repeat(6000)
    expect(await b.call({ command: `echo ${long} | wc -c\nprintf '\\033[31mred\\033[0m'` })).toBe('6001\nred')
    expect(await b.call({ command: 'echo "unfinished' })).toMatch(/\[exit code \d+\]$/)
    expect(await b.call({ command: 'echo still; test -t 0 && echo terminal' })).toBe('still\nterminal')
  })

  it('looks again at what still runs, types to it, interrupts it', async () => {
    await using b = await bench({ waitSeconds: 0.3 })
    expect(await b.call({ command: 'echo name?; read name; echo hello $name' })).toBe(
      'name?\n[still running after 0.3 seconds]',
    )
    await expect(b.call({ command: 'echo other' })).rejects.toThrow('a command still runs')
    expect(await b.call({ input: 'Ada\n', wait_seconds: 20 })).toContain('hello Ada')
    await expect(b.call({ input: 'x' })).rejects.toThrow('nothing runs')
    expect(await b.call({})).toBe('[nothing runs]')
    await b.call({ command: 'sleep 600' })
    expect(await b.call({ interrupt: true, wait_seconds: 20 })).toMatch(/\[exit code 130\]$/)
    expect(await b.call({ command: 'echo fine', wait_seconds: 20 })).toBe('fine')
  })

  it('begins again after its end, by restart, and ends with its sample', async () => {
    await using b = await bench()
    expect(await b.call({ command: 'echo bye; exit 4' })).toBe(
      'bye\n[the shell has ended; the next call starts a new one]',
    )
    expect(await b.call({ command: 'X=1; echo new' })).toBe('new')
    expect(await b.call({ restart: true, command: 'echo "x$X"' })).toBe('x')
    const waiting = b.call({ command: 'sleep 600' })
    setTimeout(() => b.controller.abort(new Error('cancelled')), 200)
    await expect(waiting).rejects.toThrow('cancelled')
  })

  it('names a shell that the image does not have', async () => {
    await using b = await bench({ program: ['no-such-shell'] })
    await expect(b.call({ command: 'true' })).rejects.toMatchObject({ code: 'config' })
  })
})
