import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type SandboxFileError, UnsupportedError } from '../../../../src/errors.ts'
import { hasGuest, isRoot, runGuest } from './guest-process.ts'

const sh = (script: string) => ['sh', '-c', script]
const IDENTITY = sh('echo $(id -u):$(id -g):$(id -G) $HOME')

describe.skipIf(!hasGuest || !isRoot)('users on a guest that is root', () => {
  it.each([
    ['0', '0:0:0 /root'],
    ['root', '0:0:0 /root'],
    ['12345', '12345:0:0 /'],
    ['12345:6789', '12345:6789:6789 /'],
    ['33', '33:33:33 /var/www'],
    ['www-data', '33:33:33 /var/www'],
    ['33:0', '33:0:0 /var/www'],
    ['daemon:mail', '1:8:8 /usr/sbin'],
  ])('become %s as the Engine does', async (user, expected) => {
    await using guest = await runGuest({ local: false, hello: { env: { PATH: '/usr/bin:/bin' } } })
    const result = await guest.sandbox.exec(IDENTITY, { user, cwd: '/' })
    expect(result.stdout.trim()).toBe(expected)
  })

  it.each(['nobody-there', '0:no-such-group', '4294967295', '99999999999', '-1'])(
    'refuses %s',
    async (user) => {
      await using guest = await runGuest({ local: false })
      const result = await guest.sandbox.exec(['true'], { user })
      expect(result.launchError?.kind).toBe('no-such-user')
    },
  )

  it('leave permissions of files to the kernel', async () => {
    await using guest = await runGuest({ local: false, hello: { user: '1234:1234' } })
    await chmod(guest.folder, 0o777)
    await writeFile(join(guest.folder, 'secret'), 'x', { mode: 0o600 })
    const kind = (work: Promise<unknown>) => work.catch((error: unknown) => (error as SandboxFileError).kind)
    expect(await kind(guest.sandbox.readFile('secret'))).toBe('permission')
    expect(await kind(guest.sandbox.writeFile('secret', 'y'))).toBe('permission')
    expect(await kind(guest.sandbox.writeFile('/etc/new-file', 'y'))).toBe('permission')
    expect(await guest.sandbox.readText('secret', { user: '0' })).toBe('x')
    await guest.sandbox.writeFile('a/b/c', 'mine')
    for (const path of ['a', 'a/b', 'a/b/c'])
      expect(await guest.sandbox.stat(path)).toMatchObject({ uid: 1234, gid: 1234 })
    expect((await guest.sandbox.exec(sh('rm -r a && id -u'))).stdout).toBe('1234\n')
  })

  it('write into a file of theirs in a folder that is not', async () => {
    await using guest = await runGuest({ local: false })
    await chmod(guest.folder, 0o755)
    await guest.sandbox.exec(sh('echo old > file && chown 1234 file'))
    await guest.sandbox.writeFile('file', 'new', { user: '1234' })
    expect(await guest.sandbox.readText('file')).toBe('new')
  })

  it('lose all capabilities under strict', async () => {
    await using guest = await runGuest({ local: false })
    const { connection } = guest
    const { execOnGuest } = await import('../../../../src/sandbox/guest/exec.ts')
    const status = await execOnGuest(connection, sh('grep -E "Cap|NoNew" /proc/self/status'), {
      strict: true,
    })
    expect(status.stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /^CapInh: 0+ CapPrm: 0+ CapEff: 0+ CapBnd: 0+ CapAmb: 0+ NoNewPrivs: 1 $/,
    )
  })

  it('are not switched to by a local guest', async () => {
    await using guest = await runGuest()
    await expect(guest.sandbox.exec(['true'], { user: '1234' })).rejects.toBeInstanceOf(UnsupportedError)
    await expect(guest.sandbox.stat('.', { user: '1234' })).rejects.toBeInstanceOf(UnsupportedError)
    expect((await guest.sandbox.exec(['true'], { user: '0' })).exitCode).toBe(0)
  })

  it('run commands, terminals included, that cannot look into the guest', async () => {
    await using guest = await runGuest({ local: false, hello: { user: '1234', cwd: '/' } })
    const pid = guest.connection.welcome.pid
    const peek = await guest.sandbox.exec(sh(`ls /proc/${pid}/fd; cat /proc/${pid}/environ; kill -9 ${pid}`))
    expect(peek.stderr).toMatch(/Permission denied|not permitted/)
    expect(peek.stdout).toBe('')
    const terminal = await guest.sandbox.spawn(['tty'], { pty: { columns: 80, rows: 24 } })
    expect(await terminal.wait()).toMatchObject({ exitCode: 0 })
  })
})
