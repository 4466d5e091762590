import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expectEqual, expectFields, expectFileError, expectTrue } from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { output, settles } from '../shell.ts'

export const fileTreeChecks: readonly ConformanceCheck[] = [
  check('links are followed, one after the other, for reading and for stat', async ({ sandbox, folder }) => {
    const script =
      'mkdir -p "$1" && cd "$1" && echo real > real && ln -s real a && ln -s "$1/a" b && ln -s b c && ln -s . here'
    await output(sandbox, script, { args: [folder] })
    for (const name of ['a', 'b', 'c', 'here/here/c'])
      expectEqual(await sandbox.readText(`${folder}/${name}`), 'real\n')
    expectFields(await sandbox.stat(`${folder}/c`), { type: 'file', size: 5 })
    expectFields(await sandbox.stat(`${folder}/here`), { type: 'directory' })
  }),
  check(
    'writing through links changes the file at their end and leaves the links',
    async ({ sandbox, folder }) => {
      const script =
        'mkdir -p "$1/in" && cd "$1" && echo old > in/real && ln -s in/real a && ln -s a b && ln -s in/new dangling'
      await output(sandbox, script, { args: [folder] })
      await sandbox.writeFile(`${folder}/b`, 'new')
      await sandbox.writeFile(`${folder}/dangling`, 'made')
      expectEqual(await sandbox.readText(`${folder}/in/real`), 'new')
      expectEqual(await sandbox.readText(`${folder}/in/new`), 'made')
      const types = Object.fromEntries((await sandbox.list(folder)).map(({ name, type }) => [name, type]))
      expectEqual(types, { a: 'link', b: 'link', dangling: 'link', in: 'directory' })
    },
  ),
  check('a link is replaced, not followed, where that is asked for', async ({ sandbox, folder, tempDir }) => {
    const script =
      'mkdir -p "$1/dir" && cd "$1" && echo old > real && ln -s real file && ln -s dir written && ln -s dir tree'
    await output(sandbox, script, { args: [folder] })
    await writeFile(join(tempDir, 'inside'), 'sent')
    await sandbox.writeFile(`${folder}/file`, 'new', { replace: true })
    await sandbox.writeFile(`${folder}/written`, 'new', { replace: true })
    await sandbox.upload(tempDir, `${folder}/tree`, { replace: true })
    expectEqual(await sandbox.readText(`${folder}/real`), 'old\n')
    expectEqual(await sandbox.list(`${folder}/dir`), [])
    const types = Object.fromEntries((await sandbox.list(folder)).map(({ name, type }) => [name, type]))
    expectEqual(types, { dir: 'directory', file: 'file', real: 'file', tree: 'directory', written: 'file' })
    expectEqual(await sandbox.readText(`${folder}/tree/inside`), 'sent')
  }),
  check('a link to nowhere is not found, and a loop ends', async ({ sandbox, folder }) => {
    await output(
      sandbox,
      'mkdir -p "$1" && cd "$1" && ln -s nowhere dangling && ln -s loop loop && ln -s p q && ln -s q p',
      {
        args: [folder],
      },
    )
    await expectFileError(sandbox.readFile(`${folder}/dangling`), 'not-found')
    for (const name of ['loop', 'p']) {
      await settles(
        'a loop',
        expectFileError(sandbox.readFile(`${folder}/${name}`), ['not-found', 'invalid-path']),
      )
      await settles(
        'a loop',
        expectFileError(sandbox.writeFile(`${folder}/${name}`, 'x'), ['not-found', 'invalid-path']),
      )
    }
    expectEqual(await sandbox.exists(`${folder}/dangling`), false)
  }),
  check(
    'a link out of the folder leads to the sandbox, never to this host',
    async ({ sandbox, folder, tempDir }) => {
      await output(sandbox, 'mkdir -p "$1" && ln -s "$2" "$1/link" && ln -s / "$1/root"', {
        args: [folder, tempDir],
      })
      await expectFileError(sandbox.list(`${folder}/link`), 'not-found')
      await expectFileError(sandbox.readFile(`${folder}/root${tempDir}`), 'not-found')
      await output(sandbox, 'echo inside > /belljar-outside && ln -s /belljar-outside "$1/out"', {
        args: [folder],
      })
      expectEqual(await sandbox.readText(`${folder}/out`), 'inside\n')
    },
    { needs: ['isolation'] },
  ),
  check(
    'a list has every entry with its kind, size and mode, links as links',
    async ({ sandbox, folder }) => {
      const script =
        'mkdir -p "$1/sub" && cd "$1" && printf 12345 > five && chmod 640 five && : > .hidden && : > ..x && mkfifo pipe && ln -s sub link'
      await output(sandbox, script, { args: [folder] })
      const entries = await sandbox.list(folder)
      expectEqual(entries.map(({ name, type }) => `${name} ${type}`).sort(), [
        '..x file',
        '.hidden file',
        'five file',
        'link link',
        'pipe fifo',
        'sub directory',
      ])
      const five = entries.find(({ name }) => name === 'five')
      expectEqual([five?.size, five?.mode], [5, 0o640])
    },
  ),
  check('an empty folder and one of 1,500 files are listed', async ({ sandbox, folder }) => {
    await output(
      sandbox,
      'mkdir -p "$1/empty" "$1/full" && cd "$1/full" && i=0; while [ $i -lt 1500 ]; do : > "$i"; i=$((i + 1)); done',
      {
        args: [folder],
      },
    )
    expectEqual(await sandbox.list(`${folder}/empty`), [])
    expectEqual((await sandbox.list(`${folder}/full`)).length, 1500)
  }),
  check('what is no folder cannot be listed', async ({ sandbox, folder }) => {
    await sandbox.writeFile(`${folder}/file`, '')
    await expectFileError(sandbox.list(`${folder}/file`), 'not-a-directory')
    await expectFileError(sandbox.list(`${folder}/none`), 'not-found')
  }),
  check('stat tells size, mode, owner and age', async ({ sandbox, folder }) => {
    await sandbox.writeFile(`${folder}/file`, '12345', { mode: 0o754 })
    const expected = await output(sandbox, 'echo "$(stat -c "%u %g %Y" "$1/file")"', { args: [folder] })
    const { uid, gid, modifiedMs, ...rest } = await sandbox.stat(`${folder}/file`)
    expectFields(rest, { type: 'file', size: 5, mode: 0o754 })
    expectEqual(`${uid} ${gid} ${Math.floor(modifiedMs / 1000)}`, expected)
    await expectFileError(sandbox.stat(`${folder}/none`), 'not-found')
  }),
  check('exists tells what is there from what is not, without reading it', async ({ sandbox, folder }) => {
    await output(sandbox, 'mkdir -p "$1" && dd if=/dev/zero of="$1/large" bs=1 count=1 seek=2G 2>/dev/null', {
      args: [folder],
    })
    expectEqual(await sandbox.exists(`${folder}/large`), true)
    expectEqual(await sandbox.exists(folder), true)
    expectEqual(await sandbox.exists(`${folder}/none`), false)
    expectEqual(await sandbox.exists(`${folder}/large/x`), false)
    await sandbox.remove(`${folder}/large`)
  }),
  check('remove takes a file or link; a folder only when told so', async ({ sandbox, folder }) => {
    await output(
      sandbox,
      'mkdir -p "$1/dir/sub" "$1/kept" && cd "$1" && : > file && : > dir/f && : > kept/f && ln -s kept link && ln -s ../kept dir/link',
      {
        args: [folder],
      },
    )
    await sandbox.remove(`${folder}/file`)
    await sandbox.remove(`${folder}/link`)
    await expectFileError(sandbox.remove(`${folder}/dir`), 'is-a-directory')
    await sandbox.remove(`${folder}/dir`, { recursive: true })
    expectEqual(
      await output(sandbox, 'cd "$1" && find . | sort | tr "\\n" " "', { args: [folder] }),
      '. ./kept ./kept/f ',
    )
  }),
  check('removing what is not there is an error, unless forced', async ({ sandbox, folder }) => {
    await expectFileError(sandbox.remove(`${folder}/none`), 'not-found')
    await sandbox.remove(`${folder}/none`, { force: true })
    await sandbox.remove(`${folder}/none`, { force: true, recursive: true })
  }),
  check('removing a folder never follows a link out of it', async ({ sandbox, folder }) => {
    await output(
      sandbox,
      'mkdir -p "$1/dir" "$1/other" && : > "$1/other/f" && ln -s "$1/other" "$1/dir/link" && ln -s "$1/other" "$1/alias"',
      {
        args: [folder],
      },
    )
    await sandbox.remove(`${folder}/dir`, { recursive: true })
    await sandbox.remove(`${folder}/alias`, { recursive: true })
    expectTrue(await sandbox.exists(`${folder}/other/f`), 'the file behind the link')
  }),
  check(
    'the root folder is not removed',
    async ({ sandbox }) => {
      for (const path of ['/', '//', '/.', '.', '..'])
        await expectFileError(sandbox.remove(path, { recursive: true, force: true }), 'invalid-path')
      expectTrue(await sandbox.exists('/etc/passwd'), 'that all is there')
    },
    { needs: ['isolation'] },
  ),
]
