import { describe, expect, it } from 'vitest'
import { SandboxUnavailableError } from '../../../../src/errors.ts'
import { hasGuest, runGuest } from './guest-process.ts'

const sh = (script: string) => ['sh', '-c', script]

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe.skipIf(!hasGuest)('processes on a guest', () => {
  it('give output as it comes and take input as it is written', async () => {
    await using guest = await runGuest()
    const cat = await guest.sandbox.spawn(['cat'], { stdin: true })
    expect(cat.pid).toBeGreaterThan(1)
    const output = cat.stdout[Symbol.asyncIterator]()
    for (const word of ['one', 'two', 'three']) {
      await cat.write(word)
      const { value } = await output.next()
      expect(Buffer.from(value).toString()).toBe(word)
    }
    await cat.closeStdin()
    expect((await output.next()).done).toBe(true)
    expect(await cat.wait()).toMatchObject({ exitCode: 0, signal: null, timedOut: false })
  })

  it('carry 50 MiB each way at once', async () => {
    await using guest = await runGuest()
    const size = 50 * 1024 * 1024
    const cat = await guest.sandbox.spawn(['cat'], { stdin: true })
    const written = cat.write(Buffer.alloc(size, 'x')).then(() => cat.closeStdin())
    const output = await collect(cat.stdout)
    await written
    expect(output.length).toBe(size)
    expect(await cat.wait()).toMatchObject({ exitCode: 0 })
  })

  it('are held back when nobody reads, without holding back others', async () => {
    await using guest = await runGuest()
    const yes = await guest.sandbox.spawn(['yes'])
    expect((await guest.sandbox.exec(sh('echo hi'))).stdout).toBe('hi\n')
    await yes.kill()
    expect(await yes.wait()).toMatchObject({ signal: 'SIGKILL' })
    const rest = await collect(yes.stdout)
    expect(rest.length).toBeGreaterThan(0)
    expect(rest.length).toBeLessThan(3_000_000)
  })

  it('let the rest pass when the reader leaves', async () => {
    await using guest = await runGuest()
    const head = await guest.sandbox.spawn(sh('yes | head -c 20000000; exit 4'))
    for await (const _ of head.stdout) break
    expect(await head.wait()).toMatchObject({ exitCode: 4 })
  })

  it('are killed with all that they started, gently first when asked', async () => {
    await using guest = await runGuest()
    const gentle = await guest.sandbox.spawn(
      sh('trap "echo bye; exit 9" TERM; echo up; while :; do sleep 0.05; done'),
    )
    const reader = gentle.stdout[Symbol.asyncIterator]()
    await reader.next()
    await gentle.kill({ graceMs: 5000 })
    expect(await gentle.wait()).toMatchObject({ exitCode: 9 })
    expect(Buffer.from((await reader.next()).value).toString()).toBe('bye\n')
  })

  it('stay apart: killing one leaves the background child of another', async () => {
    await using guest = await runGuest()
    await guest.sandbox.exec(sh(`setsid sleep 81.${process.pid} > /dev/null 2>&1 &`))
    const other = await guest.sandbox.spawn(sh(`setsid sleep 82.${process.pid} & sleep 83.${process.pid}`))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await other.kill()
    const list = await guest.sandbox.exec(sh('cat /proc/[0-9]*/cmdline | tr "\\0" " "'))
    expect(list.stdout).toMatch(new RegExp(`sleep 81\\.${process.pid}`))
    expect(list.stdout).not.toMatch(new RegExp(`sleep 8[23]\\.${process.pid}`))
  })

  it('have a terminal with a size that can change', async () => {
    await using guest = await runGuest()
    const shell = await guest.sandbox.spawn(sh('tty; stty size; read line; stty size; echo "got $line"'), {
      pty: { columns: 101, rows: 33 },
      stdin: true,
    })
    const reader = shell.stdout[Symbol.asyncIterator]()
    let text = ''
    const until = async (pattern: RegExp) => {
      while (!pattern.test(text)) text += Buffer.from((await reader.next()).value).toString()
    }
    await until(/33 101/)
    expect(text).toMatch(/\/dev\/pts\/\d+/)
    await shell.resize(120, 40)
    await shell.write('hello\n')
    await until(/got hello/)
    expect(text).toMatch(/40 120/)
    expect(await shell.wait()).toMatchObject({ exitCode: 0 })
    expect((await reader.next()).done).toBe(true)
    expect(await collect(shell.stderr)).toHaveLength(0)
  })

  it('tell that they could not be started', async () => {
    await using guest = await runGuest()
    const missing = await guest.sandbox.spawn(['no-such-command'])
    expect(missing.pid).toBeUndefined()
    expect((await missing.wait()).launchError?.kind).toBe('not-found')
    expect(await collect(missing.stdout)).toHaveLength(0)
  })

  it('end at their deadline', async () => {
    await using guest = await runGuest()
    const sleep = await guest.sandbox.spawn(['sleep', '60'], { timeoutMs: 100 })
    expect(await sleep.wait()).toMatchObject({ timedOut: true, signal: 'SIGTERM' })
  })

  it('fail as unavailable when the guest is lost', async () => {
    await using guest = await runGuest()
    const sleep = await guest.sandbox.spawn(['sleep', '60'])
    guest.child.kill('SIGKILL')
    await expect(sleep.wait()).rejects.toBeInstanceOf(SandboxUnavailableError)
    await expect(guest.sandbox.exec(['true'])).rejects.toBeInstanceOf(SandboxUnavailableError)
    await expect(guest.sandbox.readFile('/etc/passwd')).rejects.toBeInstanceOf(SandboxUnavailableError)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(() => process.kill(sleep.pid!, 0)).toThrow()
  })
})
