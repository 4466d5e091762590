import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { killCommand, listCommands } from '../../../../src/sandbox/guest/commands.ts'
import { hasGuest, runGuest } from './guest-process.ts'

const sh = (script: string) => ['sh', '-c', script]

async function isAlive(pid: number): Promise<boolean> {
  await sleep(100)
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe.skipIf(!hasGuest)('commands that live on', () => {
  it('are listed with their processes and killed on request', async () => {
    await using guest = await runGuest()
    await guest.sandbox.exec(sh(`sleep 94.${process.pid} & setsid sleep 95.${process.pid} &`))
    await guest.sandbox.exec(['true'])
    const [command, ...others] = await listCommands(guest.connection)
    expect(others).toEqual([])
    expect(command).toMatchObject({ name: 'sh', pids: [expect.any(Number), expect.any(Number)] })
    await killCommand(guest.connection, command!)
    expect(await listCommands(guest.connection)).toEqual([])
    await killCommand(guest.connection, command!)
  })

  it('go on printing into nothing', async () => {
    await using guest = await runGuest()
    const { stderr } = await guest.sandbox.exec(sh('(yes; echo failed > failed) & echo $! >&2'))
    expect(await isAlive(Number(stderr))).toBe(true)
    expect(await guest.sandbox.exists('failed')).toBe(false)
  })

  it('outlive the host only when the guest was told to keep them', async () => {
    for (const keep of [false, true]) {
      const guest = await runGuest()
      const command = await guest.sandbox.spawn(sh(`yes & sleep 96.${process.pid}`))
      if (keep) await guest.connection.keep()
      guest.connection.close()
      expect(await isAlive(command.pid!)).toBe(keep)
      if (keep) guest.child.kill('SIGKILL')
      expect(await isAlive(command.pid!)).toBe(false)
    }
  })
})
