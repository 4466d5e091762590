import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  expectBytes,
  expectEqual,
  expectError,
  expectFields,
  expectFileError,
  expectSuccess,
  expectTrue,
} from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { MIB, output, sh } from '../shell.ts'

const ODD_NAME = '-Ü 漢\n"\' $x'

/** Nested folders, an empty one, an executable, a link, an odd name. */
async function hostTree(tempDir: string): Promise<string> {
  const tree = join(tempDir, 'tree')
  await mkdir(join(tree, 'a b', 'empty'), { recursive: true })
  await mkdir(join(tree, 'a b', 'deep', 'deeper'), { recursive: true })
  await writeFile(join(tree, 'run.sh'), '#!/bin/sh\necho hi\n')
  await chmod(join(tree, 'run.sh'), 0o755)
  await writeFile(join(tree, 'a b', ODD_NAME), 'odd')
  await writeFile(join(tree, 'a b', 'deep', 'deeper', 'bytes'), Buffer.alloc(MIB + 1, 7), { mode: 0o600 })
  await symlink('run.sh', join(tree, 'link'))
  return tree
}

export const transferChecks: readonly ConformanceCheck[] = [
  check(
    'a folder goes in whole: names, modes, links and empty folders',
    async ({ sandbox, folder, tempDir }) => {
      await sandbox.upload(await hostTree(tempDir), `${folder}/new/tree`)
      expectEqual(
        await output(sandbox, '"$1/new/tree/run.sh"; "$1/new/tree/link"', { args: [folder] }),
        'hi\nhi',
      )
      expectFields(await sandbox.stat(`${folder}/new/tree/run.sh`), { mode: 0o755, size: 18 })
      expectEqual(await sandbox.list(`${folder}/new/tree/a b/empty`), [])
      expectEqual(await sandbox.readText(`${folder}/new/tree/a b/${ODD_NAME}`), 'odd')
      expectFields(await sandbox.stat(`${folder}/new/tree/a b/deep/deeper/bytes`), {
        mode: 0o600,
        size: MIB + 1,
      })
      const link = (await sandbox.list(`${folder}/new/tree`)).find(({ name }) => name === 'link')
      expectEqual(link?.type, 'link')
    },
  ),
  check(
    'a folder comes out whole: names, modes, links and empty folders',
    async ({ sandbox, folder, tempDir }) => {
      await sandbox.upload(await hostTree(tempDir), folder)
      const target = join(tempDir, 'made', 'out')
      await sandbox.download(folder, target)
      expectEqual((await readdir(target)).sort(), ['a b', 'link', 'run.sh'])
      expectEqual((await lstat(join(target, 'run.sh'))).mode & 0o777, 0o755)
      expectEqual(await readlink(join(target, 'link')), 'run.sh')
      expectEqual(await readdir(join(target, 'a b', 'empty')), [])
      expectEqual(await readFile(join(target, 'a b', ODD_NAME), 'utf8'), 'odd')
      expectBytes(await readFile(join(target, 'a b', 'deep', 'deeper', 'bytes')), Buffer.alloc(MIB + 1, 7))
    },
  ),
  check('a file goes in and comes out under the name asked for', async ({ sandbox, folder, tempDir }) => {
    const tree = await hostTree(tempDir)
    await sandbox.upload(join(tree, 'run.sh'), `${folder}/x/renamed.sh`)
    expectFields(await sandbox.stat(`${folder}/x/renamed.sh`), { type: 'file', mode: 0o755, size: 18 })
    await sandbox.upload(join(tree, 'run.sh'), `${folder}/x/renamed.sh`, { mode: 0o700 })
    expectFields(await sandbox.stat(`${folder}/x/renamed.sh`), { mode: 0o700 })
    await sandbox.download(`${folder}/x/renamed.sh`, join(tempDir, 'deep', 'single'))
    expectEqual(await readFile(join(tempDir, 'deep', 'single'), 'utf8'), '#!/bin/sh\necho hi\n')
    await expectFileError(sandbox.upload(join(tree, 'run.sh'), `${folder}/x`), 'is-a-directory')
  }),
  check('32 uploads at once all arrive', async ({ sandbox, folder, tempDir }) => {
    const numbers = Array.from({ length: 32 }, (_, index) => index)
    await Promise.all(
      numbers.map((index) => writeFile(join(tempDir, `${index}`), Buffer.alloc(150_000 + index, index))),
    )
    await Promise.all(
      numbers.map((index) => sandbox.upload(join(tempDir, `${index}`), `${folder}/many/${index}`)),
    )
    const sizes = await output(sandbox, 'cd "$1/many" && cat -- * | wc -c; ls | wc -l', { args: [folder] })
    expectEqual(sizes.split(/\s+/).filter(Boolean).map(Number), [32 * 150_000 + 496, 32])
    expectBytes(await sandbox.readFile(`${folder}/many/31`), Buffer.alloc(150_031, 31))
  }),
  check(
    '100 MiB go in and come out as a file',
    async ({ sandbox, folder, tempDir }) => {
      const bytes = Buffer.alloc(100 * MIB, 'belljar\n')
      await writeFile(join(tempDir, 'large'), bytes)
      await sandbox.upload(join(tempDir, 'large'), `${folder}/large`)
      await sandbox.download(`${folder}/large`, join(tempDir, 'back'))
      expectBytes(await readFile(join(tempDir, 'back')), bytes)
      await sandbox.remove(folder, { recursive: true })
    },
    { heavy: true },
  ),
  check('what is not there can be neither uploaded nor downloaded', async ({ sandbox, folder, tempDir }) => {
    const missing = join(tempDir, 'none')
    const error = await expectError(sandbox.upload(missing, folder), Error)
    expectTrue(error.message.includes(missing), 'the path in the message')
    await expectFileError(sandbox.download(`${folder}/none`, missing), 'not-found')
    expectEqual(await readdir(tempDir), [])
    expectEqual(await sandbox.exists(folder), false)
  }),
  check(
    'a download over its cap is refused, and leaves no part of a file',
    async ({ sandbox, folder, tempDir }) => {
      await output(sandbox, 'mkdir -p "$1/dir" && head -c 3000000 /dev/zero > "$1/dir/x"', { args: [folder] })
      const options = { maxBytes: 1_000_000 }
      await expectFileError(sandbox.download(`${folder}/dir`, join(tempDir, 'dir'), options), 'too-large')
      await expectFileError(sandbox.download(`${folder}/dir/x`, join(tempDir, 'file'), options), 'too-large')
      expectEqual(
        (await readdir(tempDir)).filter((name) => name !== 'dir'),
        [],
      )
      await sandbox.download(`${folder}/dir`, join(tempDir, 'whole'), { maxBytes: 3_000_000 })
      expectEqual((await readFile(join(tempDir, 'whole', 'x'))).length, 3_000_000)
    },
  ),
  check(
    'what is uploaded belongs to the acting user, with the parents made for it',
    async ({ sandbox, folder, tempDir }) => {
      await output(sandbox, 'mkdir -p "$1" && chown 1000:1000 "$1"', { args: [folder] })
      const user = '1000:1000'
      const tree = await hostTree(tempDir)
      await sandbox.upload(tree, `${folder}/a/tree`, { user })
      await sandbox.upload(join(tree, 'run.sh'), `${folder}/b/c/run.sh`, { user })
      for (const path of ['a', 'a/tree', 'a/tree/run.sh', 'a/tree/a b/empty', 'b', 'b/c', 'b/c/run.sh'])
        expectFields(await sandbox.stat(`${folder}/${path}`), { uid: 1000, gid: 1000 })
      expectSuccess(await sh(sandbox, 'rm -rf "$1/a" "$1/b"', { user, args: [folder] }))
      await sandbox.upload(tree, `${folder}/by-root`)
      expectFields(await sandbox.stat(`${folder}/by-root/run.sh`), { uid: 0, gid: 0 })
    },
    { needs: ['users'] },
  ),
  check(
    'an upload goes only where the acting user may write, and through no link',
    async ({ sandbox, folder, tempDir }) => {
      const script =
        'mkdir -p "$1/home" "$1/closed" && chown 1000:1000 "$1/home" && ln -s "$1/closed" "$1/home/trap"'
      await output(sandbox, script, { args: [folder] })
      const user = '1000:1000'
      const tree = await hostTree(tempDir)
      await expectFileError(sandbox.upload(tree, `${folder}/closed/new`, { user }), 'permission')
      await expectFileError(
        sandbox.upload(join(tree, 'run.sh'), `${folder}/closed/run.sh`, { user }),
        'permission',
      )
      await expectError(sandbox.upload(tree, `${folder}/home/trap`, { user }), Error)
      expectEqual(await sandbox.list(`${folder}/closed`), [])
    },
    { needs: ['users'] },
  ),
  check(
    'a download of more entries than may be is too large, and what is special is left out where that is asked for',
    async ({ sandbox, folder, tempDir }) => {
      await output(sandbox, 'mkdir -p "$1/d" && cd "$1/d" && touch a b c && mkfifo pipe', { args: [folder] })
      const download = (name: string, maxEntries: number) =>
        sandbox.download(`${folder}/d`, join(tempDir, name), { maxEntries, skipUnsafe: true })
      await expectFileError(download('few', 2), 'too-large')
      await download('all', 100)
      expectEqual((await readdir(join(tempDir, 'all'))).sort(), ['a', 'b', 'c'])
    },
  ),
  check(
    'a download takes only what the acting user may read',
    async ({ sandbox, folder, tempDir }) => {
      await output(sandbox, 'mkdir -p "$1/d" && echo s > "$1/d/f" && chmod 600 "$1/d/f"', { args: [folder] })
      const user = '1000:1000'
      await expectFileError(sandbox.download(`${folder}/d/f`, join(tempDir, 'f'), { user }), 'permission')
      await expectError(sandbox.download(`${folder}/d`, join(tempDir, 'd'), { user }), Error)
      expectEqual(
        (await readdir(tempDir, { recursive: true })).filter((name) => name.endsWith('f')),
        [],
      )
    },
    { needs: ['users'] },
  ),
]
