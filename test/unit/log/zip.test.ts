import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/errors.ts'
import { Compressor } from '../../../src/log/zip/compressor.ts'
import { ZipFile } from '../../../src/log/zip/zip-file.ts'
import { ZipWriter } from '../../../src/log/zip/zip-writer.ts'
import { tempDir } from '../../support/temp-dir.ts'

async function zipOf(path: string, members: readonly (readonly [string, string])[]): Promise<void> {
  const zip = await ZipWriter.create(path)
  for (const [name, content] of members) await zip.add(name, content)
  await zip.end()
}

const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
  fc.constantFrom('../up', 'a\\b', '/root', 'C:x', 'a/../../b', 'a/', 'ä'),
)
const content = fc.oneof(fc.string({ maxLength: 200 }), fc.constant('x'.repeat(300_000)))

describe('a ZIP file', () => {
  it('gives back every member under the name it was added with, of equal names the last', async () => {
    await using directory = await tempDir()
    const path = join(directory.path, 'x.zip')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, content), { maxLength: 12 }), async (members) => {
        await zipOf(path, members)
        const expected = new Map(members)
        await using zip = await ZipFile.open(path)
        expect(zip.names.sort()).toEqual([...expected.keys()].sort())
        for (const [member, text] of expected)
          expect(await zip.text(member)).toBe(Buffer.from(text).toString())
      }),
      { numRuns: 40 },
    )
  })

  it('holds more members than its short form can count', async () => {
    await using directory = await tempDir()
    const path = join(directory.path, 'x.zip')
    await zipOf(
      path,
      Array.from({ length: 65_600 }, (_, index) => [`m${index}`, ''] as const),
    )
    await using zip = await ZipFile.open(path)
    expect(zip.names).toHaveLength(65_600)
    expect(await zip.text('m65599')).toBe('')
  }, 60_000)

  it('takes a member that came in pieces', async () => {
    await using directory = await tempDir()
    const path = join(directory.path, 'x.zip')
    const zip = await ZipWriter.create(path)
    const compressor = new Compressor()
    for (let index = 0; index < 2000; index++) await compressor.write(`${index} ${'ä'.repeat(300)}\n`)
    await zip.addCompressed('pieces', await compressor.end())
    await zip.end()
    await using file = await ZipFile.open(path)
    const lines = (await file.text('pieces')).split('\n')
    expect(lines).toHaveLength(2001)
    expect(lines[1999]).toBe(`1999 ${'ä'.repeat(300)}`)
    await file.verify('pieces')
  })

  it.each([
    ['a flipped byte', (bytes: Buffer) => bytes.fill(bytes[60]! ^ 1, 60, 61), 'x.zip:a: '],
    ['its end cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 10), 'cannot read the log'],
    ['nothing in it', () => Buffer.alloc(0), 'cannot read the log'],
  ])('with %s is refused', async (_what, damage, message) => {
    await using directory = await tempDir()
    const path = join(directory.path, 'x.zip')
    await zipOf(path, [['a', 'content that is long enough to be damaged'.repeat(20)]])
    await writeFile(path, damage(await readFile(path)))
    const read = async () => {
      await using zip = await ZipFile.open(path)
      await zip.verify('a')
    }
    await expect(read()).rejects.toBeInstanceOf(ConfigError)
    await expect(read()).rejects.toThrow(message)
  })

  it('that says a member is small while it is a bomb is refused', async () => {
    await using directory = await tempDir()
    const path = join(directory.path, 'x.zip')
    await zipOf(path, [['a', '0'.repeat(10_000_000)]])
    await using file = await open(path, 'r+')
    const bytes = await readFile(path)
    const entry = bytes.indexOf(Buffer.from([0x50, 0x4b, 1, 2]))
    await file.write(Buffer.from([10, 0, 0, 0]), 0, 4, entry + 24)
    await using zip = await ZipFile.open(path)
    await expect(zip.text('a')).rejects.toThrow(/x\.zip:a: cannot be read/)
  })

  it('says which member it does not have', async () => {
    await using directory = await tempDir()
    const path = join(directory.path, 'x.zip')
    await zipOf(path, [])
    await using zip = await ZipFile.open(path)
    await expect(zip.text('none')).rejects.toThrow('x.zip:none: the log has no such member')
  })
})
