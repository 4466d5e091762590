import { randomBytes } from 'node:crypto'
import { SandboxFileError } from '../../errors.ts'
import {
  expectBytes,
  expectEqual,
  expectError,
  expectFields,
  expectFileError,
  expectTrue,
} from '../assertions.ts'
import { type ConformanceCheck, type ConformanceContext, check } from '../check.ts'
import { MIB, output, pause } from '../shell.ts'

async function expectRoundTrip({ sandbox, folder }: ConformanceContext, size: number): Promise<void> {
  const bytes = randomBytes(size)
  await sandbox.writeFile(`${folder}/bytes`, bytes)
  expectFields(await sandbox.stat(`${folder}/bytes`), { type: 'file', size })
  expectBytes(await sandbox.readFile(`${folder}/bytes`), bytes)
  await sandbox.remove(folder, { recursive: true })
}

export const fileContentChecks: readonly ConformanceCheck[] = [
  ...[0, 1, 2 * MIB + 1].map((size) =>
    check(`a file of ${size} bytes comes back as it went`, (context) => expectRoundTrip(context, size)),
  ),
  check('a file of 100 MiB comes back as it went', (context) => expectRoundTrip(context, 100 * MIB), {
    heavy: true,
  }),
  check('text is UTF-8, and comes back as it went', async ({ sandbox, folder }) => {
    const text = '# first\r\n\n\ufeffÜ e\u0301 漢 🎉👩‍👩‍👧 \u0000 end'
    await sandbox.writeFile(`${folder}/text`, text)
    expectEqual(await sandbox.readText(`${folder}/text`), text)
    await sandbox.writeFile(`${folder}/bad`, Buffer.from([0xc3, 0x28]))
    expectBytes(await sandbox.readFile(`${folder}/bad`), Buffer.from([0xc3, 0x28]))
    expectEqual(await sandbox.readText(`${folder}/bad`), '\ufffd(')
  }),
  check('empty files read as empty, however they were made', async ({ sandbox, folder }) => {
    await sandbox.writeFile(`${folder}/empty`, '')
    await output(sandbox, ': > "$1/touched"', { args: [folder] })
    for (const name of ['empty', 'touched']) expectEqual(await sandbox.readText(`${folder}/${name}`), '')
  }),
  check('parents are made, for absolute and for relative paths', async ({ sandbox, folder }) => {
    const relative = `${folder.slice(folder.lastIndexOf('/') + 1)}/r/s/t`
    await sandbox.writeFile(`${folder}/a/b/c`, 'absolute')
    await sandbox.writeFile(relative, 'relative')
    expectEqual(await output(sandbox, 'cat "$1/a/b/c" "$1/r/s/t"', { args: [folder] }), 'absoluterelative')
    expectEqual(await sandbox.readText(relative), 'relative')
  }),
  check(
    'what is there is replaced, and keeps its mode unless another is given',
    async ({ sandbox, folder }) => {
      const path = `${folder}/file`
      await sandbox.writeFile(path, 'long content of the first version', { mode: 0o750 })
      await sandbox.writeFile(path, 'short')
      expectEqual(await sandbox.readText(path), 'short')
      expectFields(await sandbox.stat(path), { mode: 0o750, size: 5 })
      await sandbox.writeFile(path, 'again', { mode: 0o600 })
      expectFields(await sandbox.stat(path), { mode: 0o600 })
      await sandbox.writeFile(`${folder}/new`, '')
      expectFields(await sandbox.stat(`${folder}/new`), { mode: 0o644 })
    },
  ),
  check('text can be appended, also to what is not there yet', async ({ sandbox, folder }) => {
    for (const part of ['a', 'Ü', '', 'c']) await sandbox.writeFile(`${folder}/log`, part, { append: true })
    expectEqual(await sandbox.readText(`${folder}/log`), 'aÜc')
  }),
  check('a part of a file can be read', async ({ sandbox, folder }) => {
    const path = `${folder}/part`
    await sandbox.writeFile(path, '0123456789')
    expectEqual(await sandbox.readText(path, { offset: 3 }), '3456789')
    expectEqual(await sandbox.readText(path, { offset: 3, length: 2 }), '34')
    expectEqual(await sandbox.readText(path, { length: 2, maxBytes: 2 }), '01')
    expectEqual(await sandbox.readText(path, { length: 0 }), '')
    expectEqual(await sandbox.readText(path, { offset: 8, length: 50 }), '89')
    expectEqual(await sandbox.readText(path, { offset: 20 }), '')
  }),
  check('a size over the limit is refused, at the limit it is read', async ({ sandbox, folder }) => {
    await sandbox.writeFile(`${folder}/file`, Buffer.alloc(2048))
    await expectFileError(sandbox.readFile(`${folder}/file`, { maxBytes: 1024 }), 'too-large')
    await expectFileError(sandbox.readFile(`${folder}/file`, { maxBytes: 2047 }), 'too-large')
    expectEqual((await sandbox.readFile(`${folder}/file`, { maxBytes: 2048 })).length, 2048)
  }),
  check('by default more than 100 MiB is refused, before anything moves', async ({ sandbox, folder }) => {
    await output(
      sandbox,
      'mkdir -p "$1" && dd if=/dev/zero of="$1/sparse" bs=1 count=1 seek=9G 2>/dev/null',
      { args: [folder] },
    )
    await expectFileError(sandbox.readFile(`${folder}/sparse`), 'too-large')
    expectEqual((await sandbox.readFile(`${folder}/sparse`, { offset: 9 * 1024 ** 3 })).length, 1)
    expectEqual(await sandbox.exists(`${folder}/sparse`), true)
    await sandbox.remove(`${folder}/sparse`)
  }),
  check('files of the kernel, which say that they are empty, are read', async ({ sandbox }) => {
    expectTrue(
      (await sandbox.readText('/proc/self/status')).includes('Pid:'),
      'the text of /proc/self/status',
    )
  }),
  check('32 files go in at once and come back whole', async ({ sandbox, folder }) => {
    const contents = Array.from({ length: 32 }, (_, index) => randomBytes(200_000 + index))
    await Promise.all(contents.map((content, index) => sandbox.writeFile(`${folder}/many/${index}`, content)))
    const back = await Promise.all(contents.map((_, index) => sandbox.readFile(`${folder}/many/${index}`)))
    for (const [index, content] of contents.entries()) expectBytes(back[index], content, `file ${index}`)
    expectEqual((await sandbox.list(`${folder}/many`)).length, 32)
  }),
  check('of writes to one file at once one wins, whole', async ({ sandbox, folder }) => {
    const contents = Array.from({ length: 6 }, (_, index) => Buffer.alloc(300_000, 97 + index))
    await Promise.all(contents.map((content) => sandbox.writeFile(`${folder}/one`, content)))
    const found = Buffer.from(await sandbox.readFile(`${folder}/one`))
    expectTrue(
      contents.some((content) => content.equals(found)),
      'one of the contents',
    )
    expectEqual(
      (await sandbox.list(folder)).map(({ name }) => name),
      ['one'],
    )
  }),
  check('a reader never sees a part of a file that is being replaced', async ({ sandbox, folder }) => {
    const versions = [Buffer.alloc(400_000, 'a'), Buffer.alloc(700_000, 'b')]
    const write = async () => {
      for (let round = 0; round < 6; round += 1)
        await sandbox.writeFile(`${folder}/file`, versions[round % 2] ?? '')
    }
    await sandbox.writeFile(`${folder}/file`, versions[1] ?? '')
    let writing = true
    const written = write().finally(() => {
      writing = false
    })
    while (writing) {
      const seen = Buffer.from(await sandbox.readFile(`${folder}/file`))
      expectTrue(
        versions.some((version) => version.equals(seen)),
        `a whole version, got ${seen.length} bytes`,
      )
    }
    await written
  }),
  check(
    'a write that is interrupted leaves the old file or the new one, and nothing beside it',
    async ({ sandbox, folder }) => {
      const path = `${folder}/file`
      let old = Buffer.from('old')
      let interrupted = 0
      await sandbox.writeFile(path, old)
      for (const delayMs of [1, 5, 15, 30, 60, 120, 250]) {
        const controller = new AbortController()
        const content = Buffer.alloc(24 * MIB, String(delayMs))
        const call = sandbox.writeFile(path, content, { signal: controller.signal }).then(
          () => true,
          () => false,
        )
        await pause(delayMs)
        controller.abort(new Error('enough'))
        if (!(await call)) interrupted += 1
        const found = Buffer.from(await sandbox.readFile(path))
        expectTrue(found.equals(old) || found.equals(content), `a whole version, got ${found.length} bytes`)
        old = found
      }
      expectTrue(interrupted > 0, 'that some write was interrupted')
      expectEqual(
        (await sandbox.list(folder)).map(({ name }) => name),
        ['file'],
      )
    },
  ),
  check('a file call with a signal that is aborted already does nothing', async ({ sandbox, folder }) => {
    const signal = AbortSignal.abort(new Error('too late'))
    await expectError(sandbox.writeFile(`${folder}/file`, 'x', { signal }), Error)
    expectEqual(await sandbox.exists(folder), false)
  }),
  check(
    'a full file system is said so, and leaves the old file and no part of the new one',
    async ({ shared }) => {
      const sandbox = await shared('small')
      await sandbox.writeFile('/small/file', 'old')
      await expectFileError(sandbox.writeFile('/small/file', Buffer.alloc(3 * MIB)), 'no-space')
      expectEqual(await sandbox.readText('/small/file'), 'old')
      expectEqual(
        (await sandbox.list('/small')).map(({ name }) => name),
        ['file'],
      )
    },
    { needs: ['small'] },
  ),
  check('an error of a file call names the path and is typed', async ({ sandbox, folder }) => {
    const error = await expectError(sandbox.readFile(`${folder}/none`), SandboxFileError)
    expectFields(error, { kind: 'not-found', path: `${folder}/none`, code: 'file-not-found' })
    expectTrue(error.message.includes(`${folder}/none`), 'the path in the message')
  }),
]
