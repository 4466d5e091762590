import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { DockerRun } from '../../support/docker.ts'

describe.each(['busybox:latest', 'debian:bookworm-slim'])('folders in and out of %s', (image) => {
  let run: DockerRun
  let sandbox: Sandbox
  let host: string
  const user = '1000:1000'
  const sh = (script: string) => sandbox.exec(['sh', '-c', script])

  beforeAll(async () => {
    host = await mkdtemp(join(tmpdir(), 'belljar-transfer-'))
    run = await DockerRun.open({ transport: 'engine' })
    sandbox = (await run.start({ image })).default
    await sh('mkdir -p /home/u && chown 1000:1000 /home/u')
  })
  afterAll(async () => {
    await run[Symbol.asyncDispose]()
    await rm(host, { recursive: true })
  })

  async function hostTree(): Promise<string> {
    const tree = join(host, 'tree')
    await rm(tree, { recursive: true, force: true })
    await mkdir(join(tree, 'a b', 'empty'), { recursive: true })
    await writeFile(join(tree, 'run.sh'), 'echo hi\n')
    await chmod(join(tree, 'run.sh'), 0o755)
    await writeFile(join(tree, 'a b', '-Ü\n"\''), 'odd')
    await symlink('run.sh', join(tree, 'link'))
    return tree
  }

  test('a folder arrives whole, owned by the acting user with its parents', async () => {
    await sandbox.upload(await hostTree(), '/home/u/new/tree', { user })
    expect(await sandbox.stat('/home/u/new')).toMatchObject({ uid: 1000, gid: 1000 })
    expect(await sandbox.stat('/home/u/new/tree/run.sh')).toMatchObject({ uid: 1000, gid: 1000, mode: 0o755 })
    expect(await sandbox.stat('/home/u/new/tree/a b/empty')).toMatchObject({ type: 'directory', uid: 1000 })
    expect(await sandbox.readText('/home/u/new/tree/a b/-Ü\n"\'')).toBe('odd')
    expect((await sandbox.list('/home/u/new/tree')).find(({ name }) => name === 'link')?.type).toBe('link')
    expect(await sandbox.exec(['rm', '-r', '/home/u/new'], { user })).toMatchObject({ exitCode: 0 })
  })

  test('a file arrives under the name asked for, root owns what root uploads', async () => {
    await sandbox.upload(join(await hostTree(), 'run.sh'), '/opt/x/renamed.sh', { mode: 0o700 })
    expect(await sandbox.stat('/opt/x/renamed.sh')).toMatchObject({ uid: 0, gid: 0, mode: 0o700, size: 8 })
    await expect(sandbox.upload(join(host, 'tree', 'run.sh'), '/opt/x')).rejects.toMatchObject({
      kind: 'is-a-directory',
    })
  })

  test('an upload goes only where the acting user may write', async () => {
    const tree = await hostTree()
    await expect(sandbox.upload(tree, '/etc/new', { user })).rejects.toMatchObject({ kind: 'permission' })
    await sh('ln -s /etc /home/u/trap')
    await expect(sandbox.upload(tree, '/home/u/trap', { user })).rejects.toMatchObject({ kind: 'permission' })
    expect(await sandbox.exists('/etc/run.sh')).toBe(false)
    await expect(sandbox.upload(join(host, 'none'), '/x')).rejects.toThrow(join(host, 'none'))
  })

  test('a folder comes out whole', async () => {
    await sandbox.upload(await hostTree(), '/out')
    const target = join(host, 'out')
    await sandbox.download('/out', target)
    expect(await readFile(join(target, 'a b', '-Ü\n"\''), 'utf8')).toBe('odd')
    expect((await lstat(join(target, 'run.sh'))).mode & 0o777).toBe(0o755)
    expect(await readlink(join(target, 'link'))).toBe('run.sh')
    expect(await readdir(join(target, 'a b', 'empty'))).toEqual([])
    await sandbox.download('/out/run.sh', join(host, 'deep', 'single'))
    expect(await readFile(join(host, 'deep', 'single'), 'utf8')).toBe('echo hi\n')
  })

  test('links that lead out, devices and pipes stay there, and the rest comes', async () => {
    await sh(
      'mkdir -p /bad && cd /bad && echo ok > good && ln -s /etc/passwd abs && ln -s ../../../x up && mkfifo pipe && mknod null c 1 3 && chmod 4755 good',
    )
    const target = join(host, 'bad')
    await expect(sandbox.download('/bad', target)).rejects.toThrow(/not extracted/)
    expect(await readdir(target)).toEqual(['good'])
    expect((await lstat(join(target, 'good'))).mode & 0o7777).toBe(0o755)
  })

  // busybox's shell runs its own tar whatever lies in the PATH.
  const onDebian = image.startsWith('debian') ? test : () => undefined
  onDebian('a tar program of the sandbox that lies writes nothing outside the target', async () => {
    const target = join(host, 'lied', 'inner')
    await sandbox.writeFile('/tmp/faketar', '#!/bin/sh\ncat /tmp/crafted.tar\n', { mode: 0o755 })
    const { pack } = await import('tar-stream')
    const crafted = pack()
    crafted.entry({ name: '../escaped', type: 'file' }, 'x')
    crafted.entry({ name: '/tmp/belljar-absolute', type: 'file' }, 'x')
    crafted.entry({ name: 'to-host', type: 'symlink', linkname: '/tmp' })
    crafted.entry({ name: 'to-host/belljar-through', type: 'file' }, 'x')
    crafted.entry({ name: 'hard', type: 'link', linkname: '../../../etc/passwd' })
    crafted.entry({ name: 'device', type: 'block-device', devmajor: 8, devminor: 0 })
    crafted.entry({ name: 'fine', type: 'file' }, 'fine')
    crafted.finalize()
    const chunks: Uint8Array[] = []
    for await (const chunk of crafted) chunks.push(chunk as Uint8Array)
    await sandbox.writeFile('/tmp/crafted.tar', Buffer.concat(chunks))
    await sh('rm "$(command -v tar)"; cp /tmp/faketar /bin/tar; mkdir -p /lied')
    await expect(sandbox.download('/lied', target)).rejects.toThrow(/not extracted/)
    expect((await readdir(target)).sort()).toEqual(['fine', 'to-host'])
    expect((await lstat(join(target, 'to-host'))).isDirectory()).toBe(true)
    expect(await readdir(join(host, 'lied'))).toEqual(['inner'])
  })

  test('a download over its cap is refused', async () => {
    const fresh = (await run.start({ image })).default
    await fresh.exec(['sh', '-c', 'mkdir /big && head -c 3000000 /dev/zero > /big/x'])
    const target = join(host, 'big')
    const maxBytes = 1_000_000
    await expect(fresh.download('/big', target, { maxBytes })).rejects.toMatchObject({ kind: 'too-large' })
    await expect(fresh.download('/big/x', target, { maxBytes })).rejects.toMatchObject({ kind: 'too-large' })
    await expect(fresh.download('/none', target)).rejects.toMatchObject({ kind: 'not-found' })
  })
})
