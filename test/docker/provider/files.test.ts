import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SandboxFileError } from '../../../src/errors.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { DockerRun } from '../../support/docker.ts'

const MIB = 1024 * 1024
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The kind of the SandboxFileError that a file call ends with. */
async function kindOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof SandboxFileError)) throw error
  return error.kind
}

describe.each(['busybox:latest', 'debian:bookworm-slim'])('files in %s', (image) => {
  let run: DockerRun
  let sandbox: Sandbox
  const user = '1000:1000'
  const sh = (script: string, options = {}) => sandbox.exec(['sh', '-c', script], options)

  beforeAll(async () => {
    run = await DockerRun.open({ transport: 'engine' })
    sandbox = (await run.start({ image })).default
    const script =
      'mkdir -p /home/u /secret/in && chown 1000:1000 /home/u && chmod 700 /secret && echo s > /secret/in/f && echo r > /root-file && chmod 600 /root-file && mkfifo /fifo && ln -s /home/u/real /home/u/link && ln -s nowhere /dangling && ln -s loop /loop && ln -s /home/u/link /home/u/link2'
    expect(await sh(script)).toMatchObject({ exitCode: 0 })
  })
  afterAll(() => run[Symbol.asyncDispose]())

  test.each([0, 1, 2 * MIB + 1, 30 * MIB])('%i random bytes come back as they went', async (size) => {
    const bytes = randomBytes(size)
    await sandbox.writeFile('/home/u/bytes', bytes)
    const back = await sandbox.readFile('/home/u/bytes')
    expect(back.length).toBe(size)
    expect(sha256(back)).toBe(sha256(bytes))
  })

  test.each(['a b\'"$x`\\', '-rf', 'Ünï 漢🎉', 'line\nbreak\n', '~', '*', 'n'.repeat(255)])(
    'a file may be called %j',
    async (name) => {
      await sandbox.writeFile(name, name)
      expect(await sandbox.readText(name)).toBe(name)
      expect((await sandbox.list('.')).map((entry) => entry.name)).toContain(name)
      await sandbox.remove(name)
      expect(await sandbox.exists(name)).toBe(false)
    },
  )

  test.each(['', 'a\0b', 'x'.repeat(300), 'y/'.repeat(2500)])('%j is no path', async (path) => {
    expect(await kindOf(sandbox.readFile(path))).toBe('invalid-path')
    expect(await kindOf(sandbox.writeFile(path, ''))).toBe('invalid-path')
  })

  test('reading says what is in the way', async () => {
    expect(await kindOf(sandbox.readFile('/none'))).toBe('not-found')
    expect(await kindOf(sandbox.readFile('/dangling'))).toBe('not-found')
    expect(await kindOf(sandbox.readFile('/loop'))).toBe('not-found')
    expect(await kindOf(sandbox.readFile('/home'))).toBe('is-a-directory')
    expect(await kindOf(sandbox.readFile('/root-file/x'))).toBe('not-a-directory')
    expect(await kindOf(sandbox.readFile('/fifo'))).toBe('not-a-regular-file')
    expect(await kindOf(sandbox.readFile('/dev/zero'))).toBe('not-a-regular-file')
    expect(await kindOf(sandbox.readFile('/root-file', { user }))).toBe('permission')
    expect(await kindOf(sandbox.readFile('/secret/in/f', { user }))).toBe('permission')
    expect(await kindOf(sandbox.readFile('/secret/in/none', { user }))).toBe('permission')
  })

  test('a size over the cap is refused before bytes move', async () => {
    await sh('head -c 1001 /dev/zero > /big; : > /sparse; dd if=/dev/zero of=/sparse bs=1 count=1 seek=9G')
    expect(await kindOf(sandbox.readFile('/big', { maxBytes: 1000 }))).toBe('too-large')
    expect((await sandbox.readFile('/big', { maxBytes: 1001 })).length).toBe(1001)
    expect(await kindOf(sandbox.readFile('/sparse'))).toBe('too-large')
    await sh('rm /sparse')
  })

  test('a part of a file can be read', async () => {
    await sandbox.writeFile('/part', '0123456789')
    expect(await sandbox.readText('/part', { offset: 3 })).toBe('3456789')
    expect(await sandbox.readText('/part', { offset: 3, length: 2 })).toBe('34')
    expect(await sandbox.readText('/part', { length: 2, maxBytes: 2 })).toBe('01')
    expect(await sandbox.readText('/part', { offset: 20 })).toBe('')
    expect(await sandbox.readText('/proc/self/comm')).not.toBe('')
  })

  test('writing says what is in the way, and leaves what was there', async () => {
    expect(await kindOf(sandbox.writeFile('/home', 'x'))).toBe('is-a-directory')
    expect(await kindOf(sandbox.writeFile('/home/u/new/', 'x'))).toBe('is-a-directory')
    expect(await kindOf(sandbox.writeFile('/root-file/x', 'x'))).toBe('not-a-directory')
    expect(await kindOf(sandbox.writeFile('/fifo', 'x'))).toBe('not-a-regular-file')
    expect(await kindOf(sandbox.writeFile('/root-file', 'x', { user }))).toBe('permission')
    expect(await kindOf(sandbox.writeFile('/etc/new', 'x', { user }))).toBe('permission')
    expect(await kindOf(sandbox.writeFile('/secret/x', 'x', { user }))).toBe('permission')
    expect(await kindOf(sandbox.writeFile('/sys/x', 'x'))).toBe('read-only')
    expect(await sandbox.readText('/root-file')).toBe('r\n')
  })

  test('parents and file belong to the acting user, and modes are kept or set', async () => {
    await sandbox.writeFile('/home/u/a/b/c.sh', 'echo 1', { user, mode: 0o755 })
    expect(await sandbox.stat('/home/u/a/b/c.sh')).toMatchObject({ uid: 1000, gid: 1000, mode: 0o755 })
    expect(await sandbox.stat('/home/u/a')).toMatchObject({ type: 'directory', uid: 1000, gid: 1000 })
    await sandbox.writeFile('/home/u/a/b/c.sh', 'echo 2')
    expect(await sandbox.stat('/home/u/a/b/c.sh')).toMatchObject({ uid: 1000, mode: 0o755, size: 6 })
    await sandbox.writeFile('/home/u/plain', '')
    expect(await sandbox.stat('/home/u/plain')).toMatchObject({ mode: 0o644, type: 'file', size: 0 })
    expect(await sh('rm -rf /home/u/a', { user })).toMatchObject({ exitCode: 0 })
  })

  test('links are followed, also to a file that is not there yet', async () => {
    await sandbox.writeFile('/home/u/link2', 'through', { user })
    expect(await sandbox.readText('/home/u/real')).toBe('through')
    expect(await sandbox.readText('/home/u/link2')).toBe('through')
    const types = Object.fromEntries((await sandbox.list('/home/u')).map(({ name, type }) => [name, type]))
    expect(types).toMatchObject({ link: 'link', link2: 'link', real: 'file' })
  })

  test('a mounted file can be written, and text can be appended', async () => {
    await sandbox.writeFile('/etc/hosts', '127.0.0.1 localhost\n')
    await sandbox.writeFile('/etc/hosts', '# more\n', { append: true })
    expect(await sandbox.readText('/etc/hosts')).toBe('127.0.0.1 localhost\n# more\n')
    await sandbox.writeFile('/appended', 'a', { append: true })
    await sandbox.writeFile('/appended', 'b', { append: true })
    expect(await sandbox.readText('/appended')).toBe('ab')
  })

  test('a full disk is said so and leaves no part of a file', async () => {
    const small = (await run.start({ image })).default
    await small.exec(['true'])
    const script = 'mkdir /full && mount -t tmpfs -o size=1m none /full'
    const mounted = await small.exec(['sh', '-c', script])
    const folder = mounted.exitCode === 0 ? '/full' : '/dev/shm'
    expect(await kindOf(small.writeFile(`${folder}/x`, Buffer.alloc(80 * MIB)))).toBe('no-space')
    expect(await small.list(folder)).toEqual([])
  })

  test('listing and removing', async () => {
    await sh('mkdir -p /d/sub/.hidden && mkfifo /d/pipe && : > /d/..x && : > /d/.y && mkdir /empty')
    const entries = await sandbox.list('/d')
    expect(entries.map(({ name, type }) => [name, type])).toEqual([
      ['..x', 'file'],
      ['.y', 'file'],
      ['pipe', 'fifo'],
      ['sub', 'directory'],
    ])
    expect(await sandbox.list('/empty')).toEqual([])
    expect(await kindOf(sandbox.list('/root-file'))).toBe('not-a-directory')
    expect(await kindOf(sandbox.list('/secret', { user }))).toBe('permission')
    expect(await kindOf(sandbox.remove('/d'))).toBe('is-a-directory')
    expect(await kindOf(sandbox.remove('/d', { recursive: true, user }))).toBe('permission')
    await sandbox.remove('/d', { recursive: true })
    expect(await kindOf(sandbox.remove('/d'))).toBe('not-found')
    await sandbox.remove('/d', { force: true })
    expect(await kindOf(sandbox.remove('/', { recursive: true }))).toBe('invalid-path')
    expect(await sandbox.exists('/d')).toBe(false)
  })

  test('16 files at once', async () => {
    const contents = Array.from({ length: 16 }, () => randomBytes(100_000))
    await Promise.all(contents.map((content, index) => sandbox.writeFile(`/many/${index}`, content)))
    const back = await Promise.all(contents.map((_, index) => sandbox.readFile(`/many/${index}`)))
    expect(back.map(sha256)).toEqual(contents.map(sha256))
  })
})
