import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SandboxFileError } from '../../../../src/errors.ts'
import { hasGuest, runGuest } from './guest-process.ts'

async function kindOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof SandboxFileError ? error.kind : String(error)
}

describe.skipIf(!hasGuest)('files on a guest', () => {
  it.each([0, 1, 65_535, 65_536, 2 * 1024 * 1024 + 1, 30_000_000])(
    'writes and reads %i bytes',
    async (size) => {
      await using guest = await runGuest()
      const content = randomBytes(size)
      await guest.sandbox.writeFile('deep/er/file', content)
      expect(Buffer.compare(await guest.sandbox.readFile('deep/er/file'), content)).toBe(0)
      expect(await readdir(join(guest.folder, 'deep/er'))).toEqual(['file'])
    },
  )

  it('tells each failure by its kind', async () => {
    await using guest = await runGuest()
    const { sandbox, folder } = guest
    await sandbox.writeFile('file', 'x'.repeat(100))
    execFileSync('mkfifo', [join(folder, 'fifo')])
    await symlink('loop', join(folder, 'loop'))
    expect(await kindOf(sandbox.readFile('missing'))).toBe('not-found')
    expect(await kindOf(sandbox.readFile('.'))).toBe('is-a-directory')
    expect(await kindOf(sandbox.readFile('fifo'))).toBe('not-a-regular-file')
    expect(await kindOf(sandbox.readFile('/dev/zero'))).toBe('not-a-regular-file')
    expect(await kindOf(sandbox.readFile('file', { maxBytes: 99 }))).toBe('too-large')
    expect(await kindOf(sandbox.readFile('file/x'))).toBe('not-a-directory')
    expect(await kindOf(sandbox.readFile('loop'))).toBe('invalid-path')
    expect(await kindOf(sandbox.readFile('a\0b'))).toBe('invalid-path')
    expect(await kindOf(sandbox.readFile(''))).toBe('invalid-path')
    expect(await kindOf(sandbox.readFile('n'.repeat(5000)))).toBe('invalid-path')
    expect(await kindOf(sandbox.writeFile('.', 'x'))).toBe('is-a-directory')
    expect(await kindOf(sandbox.writeFile('fifo', 'x'))).toBe('not-a-regular-file')
    expect(await kindOf(sandbox.writeFile('file/x', 'x'))).toBe('not-a-directory')
    expect(await kindOf(sandbox.writeFile('/dev/full', 'x'))).toBe('not-a-regular-file')
    expect(await kindOf(sandbox.list('file'))).toBe('not-a-directory')
    expect(await kindOf(sandbox.remove('missing'))).toBe('not-found')
  })

  it('reads ranges, and files that say they are empty', async () => {
    await using guest = await runGuest()
    await guest.sandbox.writeFile('file', '0123456789')
    expect(await guest.sandbox.readText('file', { offset: 3, length: 4 })).toBe('3456')
    expect(await guest.sandbox.readText('file', { offset: 20 })).toBe('')
    expect(await guest.sandbox.readText('/proc/version')).toContain('Linux')
  })

  it('keeps the mode of a file that it replaces, takes a given one, appends', async () => {
    await using guest = await runGuest()
    await guest.sandbox.writeFile('file', 'a')
    expect((await guest.sandbox.stat('file')).mode).toBe(0o644)
    await chmod(join(guest.folder, 'file'), 0o751)
    await guest.sandbox.writeFile('file', 'b')
    expect((await guest.sandbox.stat('file')).mode).toBe(0o751)
    await guest.sandbox.writeFile('file', 'c', { append: true, mode: 0o600 })
    expect((await guest.sandbox.stat('file')).mode).toBe(0o600)
    expect(await guest.sandbox.readText('file')).toBe('bc')
    await guest.sandbox.writeFile('new', 'd', { append: true })
    expect(await guest.sandbox.readText('new')).toBe('d')
  })

  it('follows links on writing, unless they are to be replaced', async () => {
    await using guest = await runGuest()
    await symlink('real', join(guest.folder, 'link'))
    await guest.sandbox.writeFile('link', 'one')
    expect(await readlink(join(guest.folder, 'link'))).toBe('real')
    expect(await guest.sandbox.readText('real')).toBe('one')
    await guest.sandbox.writeFile('link', 'two', { replace: true })
    expect(await guest.sandbox.readText('real')).toBe('one')
    expect((await guest.sandbox.list('.')).map((entry) => [entry.name, entry.type])).toEqual([
      ['link', 'file'],
      ['real', 'file'],
    ])
  })

  it('leaves the target as it was when a write is cancelled half-way', async () => {
    await using guest = await runGuest()
    await guest.sandbox.writeFile('file', 'old')
    const stop = new AbortController()
    const write = guest.sandbox.writeFile('file', Buffer.alloc(50_000_000), { signal: stop.signal })
    setTimeout(() => stop.abort(new Error('enough')), 10)
    await expect(write).rejects.toThrow('enough')
    expect(await guest.sandbox.readText('file')).toBe('old')
    expect(await readdir(guest.folder)).toEqual(['file'])
  })

  it.each(['-rf', 'new\nline', 'sp ace "q\'', 'ünïcode', 'n'.repeat(255)])(
    'takes the name %j',
    async (name) => {
      await using guest = await runGuest()
      await guest.sandbox.writeFile(name, 'x')
      expect(await guest.sandbox.readText(name)).toBe('x')
      expect((await guest.sandbox.list('.')).map((entry) => entry.name)).toEqual([name])
      await guest.sandbox.remove(name)
      expect(await guest.sandbox.exists(name)).toBe(false)
    },
  )

  it('removes folders only when asked for all', async () => {
    await using guest = await runGuest()
    await guest.sandbox.writeFile('a/b/c', 'x')
    await symlink('/etc', join(guest.folder, 'a/b/out'))
    expect(await kindOf(guest.sandbox.remove('a'))).toBe('is-a-directory')
    await guest.sandbox.remove('a', { recursive: true })
    await guest.sandbox.remove('a', { recursive: true, force: true })
    expect((await stat('/etc')).isDirectory()).toBe(true)
    expect(await guest.sandbox.list('.')).toEqual([])
  })

  it('carries folders both ways with modes, links, empty folders and long names', async () => {
    await using guest = await runGuest()
    const source = join(guest.folder, 'source')
    const deep = join(source, `${'d'.repeat(200)}`, `${'e'.repeat(200)}`)
    await mkdir(deep, { recursive: true })
    await mkdir(join(source, 'empty'), { mode: 0o700 })
    await mkdir(join(source, 'closed'))
    await writeFile(join(source, 'closed/file'), 'x', { mode: 0o640 })
    await chmod(join(source, 'closed'), 0o555)
    await writeFile(join(deep, 'f'.repeat(200)), randomBytes(3_000_000), { mode: 0o755 })
    await symlink('../closed/file', join(source, 'empty/link'))
    await guest.sandbox.upload(source, 'middle')
    await guest.sandbox.download('middle', join(guest.folder, 'target'))
    const options = { cwd: guest.folder, encoding: 'utf8' } as const
    const show = (folder: string) =>
      execFileSync('find', [folder, '-mindepth', '1', '-printf', '%P %y %m %l\n'], options).split('\n').sort()
    expect(show('middle')).toEqual(show('source'))
    expect(show('target')).toEqual(show('source'))
    execFileSync('diff', ['-r', '--no-dereference', 'source', 'target'], options)
  })

  it('makes no link on the host that leads out, and writes through none', async () => {
    await using guest = await runGuest()
    await guest.sandbox.writeFile('from/ok/file', 'x')
    await symlink('/etc/passwd', join(guest.folder, 'from/absolute'))
    await symlink('../../..', join(guest.folder, 'from/ok/up'))
    await symlink('ok/../../x', join(guest.folder, 'from/sneaky'))
    await symlink('ok/file', join(guest.folder, 'from/inside'))
    await guest.sandbox.download('from', join(guest.folder, 'to'))
    expect((await readdir(join(guest.folder, 'to'))).sort()).toEqual(['inside', 'ok'])
    expect(await readdir(join(guest.folder, 'to/ok'))).toEqual(['file'])
  })

  it('refuses a folder over the cap, and copies single files', async () => {
    await using guest = await runGuest()
    await guest.sandbox.writeFile('from/file', 'x'.repeat(1000), { mode: 0o755 })
    const target = join(guest.folder, 'to')
    expect(await kindOf(guest.sandbox.download('from', target, { maxBytes: 999 }))).toBe('too-large')
    const file = join(guest.folder, 'to-file')
    expect(await kindOf(guest.sandbox.download('from/file', file, { maxBytes: 999 }))).toBe('too-large')
    expect(await guest.sandbox.exists('to-file')).toBe(false)
    await guest.sandbox.download('from/file', file)
    expect(await readFile(file, 'utf8')).toHaveLength(1000)
    await guest.sandbox.upload(file, 'back/again')
    expect((await guest.sandbox.stat('back/again')).mode).toBe(0o755)
  })
})
