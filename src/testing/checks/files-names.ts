import { expectEqual, expectFileError } from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { output } from '../shell.ts'

const NAMES = [
  'a b\'"$x`\\',
  '-rf',
  '--',
  '-',
  'Ünï 漢🎉',
  'line\nbreak\n',
  '~',
  '*',
  ' lead and trail ',
  '\t',
  '...',
  '#',
  'n'.repeat(255),
  '漢'.repeat(85),
]
const NO_PATHS = ['', 'a\0b', 'x'.repeat(256), `${'y/'.repeat(2047)}zz`, '漢'.repeat(86)]

export const fileNameChecks: readonly ConformanceCheck[] = [
  check('a file may have any name that a file can have', async ({ sandbox, folder }) => {
    await Promise.all(NAMES.map((name) => sandbox.writeFile(`${folder}/${name}`, name)))
    const listed = (await sandbox.list(folder)).map(({ name }) => name)
    expectEqual([...listed].sort(), [...NAMES].sort())
    await Promise.all(
      NAMES.map(async (name) => expectEqual(await sandbox.readText(`${folder}/${name}`), name)),
    )
    expectEqual(await output(sandbox, 'cd "$1" && cat -- "$2"', { args: [folder, '-rf'] }), '-rf')
    await Promise.all(NAMES.map((name) => sandbox.remove(`${folder}/${name}`)))
    expectEqual(await sandbox.list(folder), [])
  }),
  check(
    'relative paths begin at the working directory, also with a leading dash or tilde',
    async ({ sandbox, folder }) => {
      const workdir = folder.slice(0, folder.lastIndexOf('/'))
      for (const name of ['-n', '~', "it's", 'line\nbreak']) {
        await sandbox.writeFile(name, name)
        expectEqual(await sandbox.readText(`${workdir}/${name}`), name)
        expectEqual(await sandbox.readText(name), name)
        expectEqual((await sandbox.stat(name)).size, name.length)
        await sandbox.remove(name)
        expectEqual(await sandbox.exists(name), false)
      }
    },
  ),
  check('what no file can be called is an invalid path', async ({ sandbox }) => {
    for (const path of NO_PATHS) {
      await expectFileError(sandbox.readFile(path), 'invalid-path')
      await expectFileError(sandbox.writeFile(path, ''), 'invalid-path')
      await expectFileError(sandbox.stat(path), 'invalid-path')
      await expectFileError(sandbox.list(path), 'invalid-path')
      await expectFileError(sandbox.remove(path), 'invalid-path')
    }
  }),
  check('a path of 4,095 bytes is one, and one of 4,096 is not', async ({ sandbox, folder }) => {
    const part = `/${'d'.repeat(200)}`
    let path = folder
    while (path.length + part.length < 4095) path += part
    path = `${path}/${'f'.repeat(4095 - path.length - 1)}`
    await sandbox.writeFile(path, 'deep')
    expectEqual(await sandbox.readText(path), 'deep')
    await expectFileError(sandbox.readFile(`${path}f`), 'invalid-path')
    await expectFileError(sandbox.writeFile(`${path}f`, ''), 'invalid-path')
    await sandbox.remove(folder, { recursive: true })
    expectEqual(await sandbox.exists(folder), false)
  }),
  check('a name that looks like an address is a name', async ({ sandbox }) => {
    await expectFileError(sandbox.readFile('https://example.com/file.txt'), 'not-found')
    await expectFileError(sandbox.readFile('default:/etc/passwd'), 'not-found')
  }),
]
