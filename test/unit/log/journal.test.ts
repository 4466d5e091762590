import { type FileHandle, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/errors.ts'
import { Journal } from '../../../src/log/journal/journal.ts'
import { noteRecord, recordsOf, sampleRecord } from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** Over a file system that is full. */
async function fullJournal(): Promise<Journal> {
  const Over = Journal as unknown as new (path: string, file: FileHandle) => Journal
  return new Over('/dev/full', await open('/dev/full', 'a'))
}

describe('a journal', () => {
  it('gives back through the reader what was appended, in order', async () => {
    await using directory = await tempDir()
    const records = [
      noteRecord('line\nbreak \u2028 and "quotes"'),
      sampleRecord({ target: ['a', 'b'], id: 'x' }),
    ]
    const journal = await Journal.create(directory.path, 'log.jsonl')
    for (const record of records) await journal.append(record)
    await journal.close()
    expect(await recordsOf(journal.path)).toEqual(records)
  })

  it('keeps the order of what is appended at once, waited for or not', async () => {
    await using directory = await tempDir()
    const journal = await Journal.create(directory.path, 'log.jsonl')
    const names = Array.from({ length: 500 }, (_, index) => `note ${index}`)
    const appended = names.map((name, index) =>
      index % 3 === 0 ? journal.note(noteRecord(name)) : journal.append(noteRecord(name)),
    )
    await Promise.all(appended)
    await journal.close()
    const read = await recordsOf(journal.path)
    expect(read.map((record) => record.type === 'note' && record.message)).toEqual(names)
  })

  it('has a record in the file when its append resolves, while others still come', async () => {
    await using directory = await tempDir()
    const journal = await Journal.create(directory.path, 'log.jsonl')
    let isOver = false
    const stream = (async () => {
      while (!isOver) await journal.append(noteRecord('more'))
    })()
    await journal.append(noteRecord('the one'))
    expect(await readFile(journal.path, 'utf8')).toContain('the one')
    isOver = true
    await stream
    await journal.close()
  })

  it('writes bytes as base64 and big integers as text', async () => {
    await using directory = await tempDir()
    await using journal = await Journal.create(directory.path, 'log.jsonl')
    const metadata = { bytes: new Uint8Array([104, 105]), big: 2n ** 70n }
    await journal.append(sampleRecord({ metadata }))
    expect(await recordsOf(journal.path)).toEqual([
      sampleRecord({ metadata: { bytes: 'aGk=', big: '1180591620717411303424' } }),
    ])
  })

  it('makes the folders it needs', async () => {
    await using directory = await tempDir()
    await using journal = await Journal.create(join(directory.path, 'a', 'b'), 'log.jsonl')
    await journal.append(noteRecord('x'))
    expect(journal.path).toBe(join(directory.path, 'a', 'b', 'log.jsonl'))
  })

  it('never opens a file that exists', async () => {
    await using directory = await tempDir()
    await writeFile(join(directory.path, 'log.jsonl'), 'precious')
    const made = Journal.create(directory.path, 'log.jsonl')
    await expect(made).rejects.toThrow(/log\.jsonl: cannot write the log: EEXIST.*--log-dir/)
    expect(await readFile(join(directory.path, 'log.jsonl'), 'utf8')).toBe('precious')
  })

  it('says which folder could not be made', async () => {
    await using directory = await tempDir()
    await writeFile(join(directory.path, 'a file'), '')
    const made = Journal.create(join(directory.path, 'a file', 'logs'), 'log.jsonl')
    await expect(made).rejects.toBeInstanceOf(ConfigError)
    await expect(made).rejects.toThrow(/a file\/logs\/log\.jsonl: cannot write the log: ENOTDIR/)
  })

  it('rejects for good once a write has failed, also after notes, and when it is closed', async () => {
    const journal = await fullJournal()
    journal.note(noteRecord('nobody waits for this'))
    for (let times = 0; times < 3; times++)
      await expect(journal.append(noteRecord('x'))).rejects.toThrow(/ENOSPC/)
    await expect(journal.close()).rejects.toThrow(/ENOSPC/)
  })

  it('refuses a value that has no JSON, and goes on', async () => {
    await using directory = await tempDir()
    const journal = await Journal.create(directory.path, 'log.jsonl')
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(() => journal.append(sampleRecord({ metadata: cycle }))).toThrow(/circular/)
    await journal.append(noteRecord('still here'))
    await journal.close()
    expect(await recordsOf(journal.path)).toEqual([noteRecord('still here')])
  })
})
