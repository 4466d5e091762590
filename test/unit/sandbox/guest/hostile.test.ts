import { describe, expect, it } from 'vitest'
import { ExecTimeoutError, SandboxUnavailableError } from '../../../../src/errors.ts'
import { hasGuest, isRoot, runGuest } from './guest-process.ts'

const sh = (script: string) => ['sh', '-c', script]
const SUPERVISOR = '$(sed -n "s/^PPid:.//p" /proc/$$/status)'

describe.skipIf(!hasGuest || !isRoot)('a hostile root beside a guest', () => {
  it('cannot kill a guest that is PID 1', async () => {
    await using guest = await runGuest({ init: true, hello: { exclusive: true } })
    expect(guest.connection.welcome).toMatchObject({ init: true, pid: 1 })
    await guest.sandbox.exec(sh('kill -9 1; kill -STOP 1; kill -TERM 1'))
    const result = await guest.sandbox.exec(sh(`kill -9 -1; sleep 60.${process.pid}`), { timeoutMs: 20_000 })
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    expect((await guest.sandbox.exec(sh('ls -d /proc/[0-9]*'))).stdout).toMatch(/^\/proc\/1\n/)
  })

  it.each([true, false])('gains nothing by killing a supervisor (PID 1: %s)', async (init) => {
    await using guest = await runGuest({ init, local: false })
    const script = `(setsid sleep 91.${process.pid} &) ; kill -9 ${SUPERVISOR}; sleep 92.${process.pid}`
    expect(await guest.sandbox.exec(sh(script), { timeoutMs: 20_000 })).toMatchObject({ signal: 'SIGKILL' })
    const left = await guest.sandbox.exec(sh('cat /proc/[0-9]*/cmdline | tr "\\0" " "'))
    expect(left.stdout).not.toMatch(new RegExp(`sleep 9[12]\\.${process.pid}`))
  })

  it('gains nothing by stopping a supervisor', { timeout: 30_000 }, async () => {
    await using guest = await runGuest({ init: true })
    const run = guest.sandbox.exec(sh(`kill -STOP ${SUPERVISOR}; sleep 93.${process.pid}`), {
      timeoutMs: 200,
    })
    await expect(run).rejects.toBeInstanceOf(ExecTimeoutError)
    expect((await guest.sandbox.exec(['true'])).exitCode).toBe(0)
  })

  it('is ended when it bombs forks', { timeout: 40_000 }, async () => {
    await using guest = await runGuest({ init: true, hello: { exclusive: true } })
    const bomb = `ulimit -u 4000; f() { f | f & }; i=0; while [ $i -lt 400 ]; do (sleep 0.01; sleep 99.${process.pid}) & i=$((i+1)); done; f; wait`
    const run = guest.sandbox.exec(sh(bomb.replace('f; wait', 'wait')), { timeoutMs: 500 })
    await expect(run).rejects.toBeInstanceOf(ExecTimeoutError)
    const left = await guest.sandbox.exec(sh('ls -d /proc/[0-9]* | wc -l'))
    expect(Number(left.stdout)).toBeLessThan(8)
  })

  it('is told apart as tampering when it writes frames of its own', async () => {
    await using guest = await runGuest({ local: false })
    const lost = guest.connection.lost
    guest.child.stdout.push(Buffer.alloc(64, 30))
    expect((await lost).reason).toBe('tampered')
    await expect(guest.sandbox.exec(['true'])).rejects.toMatchObject({ reason: 'tampered' })
    await expect(guest.sandbox.exec(['true'])).rejects.toBeInstanceOf(SandboxUnavailableError)
  })
})
