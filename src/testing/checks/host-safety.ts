import { lstat, mkdir, readdir, readFile, readlink, statfs, symlink, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { pack } from 'tar-stream'
import { expectEqual, expectFileError, expectTrue } from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { output } from '../shell.ts'

const needs = ['isolation'] as const

/** A folder beside the target that must stay as it is, and the target. */
async function guarded(tempDir: string) {
  const outside = join(tempDir, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'precious'), 'untouched', { mode: 0o600 })
  return {
    target: join(tempDir, 'target'),
    outside,
    expectUntouched: async () => {
      expectEqual(await readdir(outside), ['precious'])
      expectEqual(await readFile(join(outside, 'precious'), 'utf8'), 'untouched')
      expectEqual((await lstat(join(outside, 'precious'))).mode & 0o7777, 0o600)
      expectEqual(
        (await readdir(tempDir)).filter((name) => name !== 'target'),
        ['outside'],
      )
    },
  }
}

/** No link in the folder leads out of it, and all else is a plain file or folder without special bits. */
async function expectHarmless(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  for (const name of names) {
    const path = join(folder, name)
    const facts = await lstat(path)
    expectTrue(
      facts.isFile() || facts.isDirectory() || facts.isSymbolicLink(),
      `${name} to be a file, folder or link`,
    )
    expectEqual(facts.mode & 0o7000, 0, `special bits of ${name}`)
    if (!facts.isSymbolicLink()) continue
    const target = resolve(path, '..', await readlink(path))
    expectTrue(!relative(folder, target).startsWith('..'), `the link ${name} to stay inside`)
  }
  return names
}

type Entry = Parameters<ReturnType<typeof pack>['entry']>[0]

async function craftedArchive(outside: string): Promise<Buffer> {
  const archive = pack()
  const entries: readonly Entry[] = [
    { name: '../escaped' },
    { name: `${outside}/absolute` },
    { name: 'sub/../../escaped-too' },
    { name: 'to-host', type: 'symlink', linkname: outside },
    { name: 'to-host/through' },
    { name: 'up', type: 'symlink', linkname: '..' },
    { name: 'up/outside/through-up' },
    { name: 'chain', type: 'symlink', linkname: 'up/outside' },
    { name: 'chain/through-chain' },
    { name: 'hard', type: 'link', linkname: `${outside}/precious` },
    { name: 'hard-up', type: 'link', linkname: '../outside/precious' },
    { name: 'device', type: 'block-device', devmajor: 8, devminor: 0 },
    { name: 'null', type: 'character-device', devmajor: 1, devminor: 3 },
    { name: 'pipe', type: 'fifo' },
    { name: 'fine' },
  ]
  for (const entry of entries) {
    const header = { ...entry, mode: 0o4777 }
    if (entry.type === undefined) archive.entry(header, 'x')
    else archive.entry(header)
  }
  archive.finalize()
  const chunks: Uint8Array[] = []
  for await (const chunk of archive) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

export const hostSafetyChecks: readonly ConformanceCheck[] = [
  check(
    'host safety: links out, devices, pipes and special bits do not come to this host',
    async ({ sandbox, folder, tempDir }) => {
      const { target, outside, expectUntouched } = await guarded(tempDir)
      const script = `mkdir -p "$1/sub" && cd "$1" && echo ok > good && chmod 4755 good && echo ok > sub/inner
ln -s "$2/precious" absolute && ln -s ../../../../../../../../../../etc/passwd up && ln -s "$2" folder && ln -s .. parent
ln good hard && mkfifo pipe && mknod null c 1 3 && mknod disk b 8 0`
      await output(sandbox, script, { args: [folder, outside] })
      await sandbox.download(folder, target).catch(() => undefined)
      await expectUntouched()
      const names = await expectHarmless(target)
      expectTrue(
        !names.includes('null') && !names.includes('disk') && !names.includes('pipe'),
        'no device or pipe',
      )
    },
    { needs: [...needs, 'users'] },
  ),
  check(
    'host safety: files come though something beside them cannot',
    async ({ sandbox, folder, tempDir }) => {
      const { target } = await guarded(tempDir)
      await output(
        sandbox,
        'mkdir -p "$1/sub" && cd "$1" && echo 1 > a && ln a hard && ln -s /etc/passwd link && echo 2 > sub/z',
        {
          args: [folder],
        },
      )
      await sandbox.download(folder, target).catch(() => undefined)
      expectEqual(await readFile(join(target, 'a'), 'utf8'), '1\n')
      expectEqual(await readFile(join(target, 'hard'), 'utf8'), '1\n')
      expectEqual(await readFile(join(target, 'sub', 'z'), 'utf8'), '2\n')
    },
    { needs },
  ),
  check(
    'host safety: a link that stands in the target is not written through',
    async ({ sandbox, folder, tempDir }) => {
      const { target, outside, expectUntouched } = await guarded(tempDir)
      await mkdir(target)
      await symlink(outside, join(target, 'sub'))
      await symlink(join(outside, 'precious'), join(target, 'file'))
      await output(sandbox, 'mkdir -p "$1/sub" && echo evil > "$1/sub/precious" && echo evil > "$1/file"', {
        args: [folder],
      })
      await sandbox.download(folder, target).catch(() => undefined)
      await expectUntouched()
    },
    { needs },
  ),
  check(
    'host safety: a path in the sandbox that leads elsewhere there names nothing here',
    async ({ sandbox, folder, tempDir }) => {
      const { target, outside, expectUntouched } = await guarded(tempDir)
      await output(sandbox, 'mkdir -p "$1" && ln -s "$2" "$1/link"', { args: [folder, outside] })
      await expectFileError(sandbox.download(`${folder}/link`, target), 'not-found')
      await expectFileError(sandbox.download(`${folder}/link/precious`, target), 'not-found')
      await expectUntouched()
    },
    { needs },
  ),
  check(
    'host safety: 10 GB of holes are refused by the cap and fill no disk',
    async ({ sandbox, folder, tempDir }) => {
      await output(
        sandbox,
        'mkdir -p "$1/d" && dd if=/dev/zero of="$1/d/sparse" bs=1 count=1 seek=10000000000 2>/dev/null',
        {
          args: [folder],
        },
      )
      const free = async () => ((facts) => facts.bavail * facts.bsize)(await statfs(tempDir))
      const before = await free()
      await expectFileError(sandbox.download(`${folder}/d`, join(tempDir, 'd')), 'too-large')
      await expectFileError(sandbox.download(`${folder}/d/sparse`, join(tempDir, 'f')), 'too-large')
      expectTrue(before - (await free()) < 4e9, 'that the disk of this host has not filled')
      await sandbox.remove(`${folder}/d/sparse`)
    },
    { needs },
  ),
  check(
    'host safety: a tar of the sandbox that lies writes nothing outside the target',
    async ({ start, tempDir }) => {
      const { target, outside, expectUntouched } = await guarded(tempDir)
      const sandbox = (await start()).default
      await sandbox.writeFile('/crafted.tar', await craftedArchive(outside))
      await output(
        sandbox,
        `mkdir -p /lied && echo real > /lied/fine
tar=$(command -v tar); case $tar in /*) ;; *) tar=/bin/tar ;; esac
printf '#!/bin/sh\\ncat /crafted.tar\\n' > /faketar && chmod 755 /faketar && rm -f "$tar" && mv /faketar "$tar"`,
      )
      await sandbox.download('/lied', target).catch(() => undefined)
      await expectUntouched()
      await expectHarmless(target)
    },
    { needs: [...needs, 'users'] },
  ),
]
