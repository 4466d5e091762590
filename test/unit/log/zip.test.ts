import { randomBytes } from 'node:crypto'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/errors.ts'
import { Compressor } from '../../../src/log/zip/compressor.ts'
import { ZipFile } from '../../../src/log/zip/zip-file.ts'
import { ZipWriter } from '../../../src/log/zip/zip-writer.ts'
import { zstandard, zstandardOf } from '../../../src/log/zip/zstandard.ts'
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

describe('a large member', () => {
  /** Text that repeats itself further apart than deflate can see. */
  const noise = randomBytes(40_000).toString('base64')
  const text = noise.repeat(4)

  it('is packed by Zstandard where the runtime has it, else by deflate, and comes back either way', async () => {
    await using directory = await tempDir()
    const path = join(directory.path, 'x.zip')
    await zipOf(path, [['large', text]])
    const [method, size] = [(await readFile(path)).readUInt16LE(8), (await readFile(path)).length]
    expect(method).toBe(zstandard ? 93 : 8)
    expect(size < noise.length).toBe(zstandard !== undefined)
    await using zip = await ZipFile.open(path)
    expect(await zip.text('large')).toBe(text)
    await zip.verify('large')
  })

  it('that Zstandard packed, in one frame or in several, is read by any runtime', async () => {
    await using directory = await tempDir()
    const path = join(directory.path, 'x.zip')
    // Two frames, each of one block that is stored as it is (RFC 8878, 3.1.1).
    const frame = (word: string) =>
      Buffer.concat([
        Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, word.length, 1 | (word.length << 3), 0, 0]),
        Buffer.from(word),
      ])
    const zip = await ZipWriter.create(path)
    const add = (name: string, words: readonly string[]) =>
      zip.addCompressed(name, {
        data: words.map(frame),
        crc: crc32(words.join('')),
        size: words.join('').length,
        method: 93,
      })
    await add('one', ['hello'])
    await add('two', ['hello ', 'again'])
    await zip.end()
    await using file = await ZipFile.open(path)
    expect([await file.text('one'), await file.text('two')]).toEqual(['hello', 'hello again'])
  })

  it('asks the runtime for a window that spans a sample', async () => {
    const asked: object[] = []
    const runtime = {
      constants: {
        ZSTD_c_compressionLevel: 100,
        ZSTD_c_windowLog: 101,
        ZSTD_c_enableLongDistanceMatching: 160,
      },
      zstdCompress: (bytes: Buffer, options: object, done: (error: null, result: Buffer) => void) => {
        asked.push(options)
        done(null, bytes)
      },
      zstdDecompress: () => undefined,
    }
    const bytes = Buffer.from('x')
    expect(await zstandardOf(runtime)?.pack(bytes)).toBe(bytes)
    expect(asked).toMatchObject([{ params: { 100: 3, 101: 23, 160: 1 }, pledgedSrcSize: 1 }])
    expect(zstandardOf({})).toBeUndefined()
  })
})
