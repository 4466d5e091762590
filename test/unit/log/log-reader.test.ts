import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/errors.ts'
import { Journal } from '../../../src/log/journal/journal.ts'
import { readLog } from '../../../src/log/read/log-reader.ts'
import type { LogRecord } from '../../../src/log/records/records.ts'
import { noteRecord, recordsOf } from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** What a journal of these records is, byte by byte. */
async function journalOf(...records: LogRecord[]): Promise<Buffer> {
  await using directory = await tempDir()
  const journal = await Journal.create(directory.path, 'log.jsonl')
  for (const record of records) await journal.append(record)
  await journal.close()
  return await readFile(journal.path)
}

async function write(folder: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, 'log.jsonl')
  await writeFile(path, content)
  return path
}

const [a, umlaut] = [noteRecord('a'), noteRecord('ä')]

describe('reading a log', () => {
  it.each<[string, (log: Buffer) => Buffer]>([
    ['in the middle of a record', (log) => log.subarray(0, log.length - 20)],
    ['in the middle of a character', (log) => log.subarray(0, log.indexOf('ä') + 1)],
    ['right after a record', (log) => log.subarray(0, log.indexOf('\n') + 1)],
    [
      'and left empty lines',
      (log) => Buffer.concat([log.subarray(0, log.indexOf('\n') + 1), Buffer.from('\n\n')]),
    ],
  ])('leaves out what a crash tore off %s', async (_where, torn) => {
    await using directory = await tempDir()
    const path = await write(directory.path, torn(await journalOf(a, umlaut)))
    expect(await recordsOf(path)).toEqual([a])
  })

  it('gives a last record that lacks nothing but its line break', async () => {
    await using directory = await tempDir()
    const log = await journalOf(a, umlaut)
    expect(await recordsOf(await write(directory.path, log.subarray(0, -1)))).toEqual([a, umlaut])
  })

  it('reads records that are larger than what is read at once', async () => {
    await using directory = await tempDir()
    const records = [noteRecord('ä'.repeat(200_000)), a]
    expect(await recordsOf(await write(directory.path, await journalOf(...records)))).toEqual(records)
  })

  it.each<[string, () => Promise<Buffer>]>([
    [
      'garbage between records',
      async () => Buffer.concat([await journalOf(a), Buffer.from('garbage\n'), await journalOf(a)]),
    ],
    ['a record of no known kind', () => journalOf(a, { ...a, type: 'other' } as unknown as LogRecord)],
    ['a record with a wrong field', () => journalOf(a, { ...a, level: 'loud' } as unknown as LogRecord)],
  ])('refuses %s with file and line', async (_what, log) => {
    await using directory = await tempDir()
    const path = await write(directory.path, await log())
    const read = recordsOf(path)
    await expect(read).rejects.toBeInstanceOf(ConfigError)
    await expect(read).rejects.toThrow(`${path}:2: `)
  })

  it('refuses a file that is no log', async () => {
    await using directory = await tempDir()
    const path = await write(directory.path, 'hello')
    await expect(recordsOf(path)).rejects.toThrow(/log\.jsonl:1: not a .*belljar log/)
  })

  it('finds no record in an empty file', async () => {
    await using directory = await tempDir()
    expect(await recordsOf(await write(directory.path, ''))).toEqual([])
  })

  it('says that a log is missing or is a folder', async () => {
    await using directory = await tempDir()
    await mkdir(join(directory.path, 'folder'))
    await expect(recordsOf(join(directory.path, 'none'))).rejects.toThrow(/none: cannot read the log: ENOENT/)
    await expect(recordsOf(join(directory.path, 'folder'))).rejects.toThrow(/cannot read the log: EISDIR/)
  })

  it('lets its reader stop early', async () => {
    await using directory = await tempDir()
    const path = await write(directory.path, await journalOf(...Array.from({ length: 2000 }, () => a)))
    for await (const record of readLog(path)) {
      expect(record).toEqual(a)
      break
    }
  })
})
