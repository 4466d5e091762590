import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/errors.ts'
import { readLog } from '../../../src/log/log-reader.ts'
import { noteRecord, recordsOf } from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

describe('reading a log', () => {
  const line = (message: string) => JSON.stringify(noteRecord(message))
  const write = async (folder: string, text: string | Uint8Array) => {
    const path = join(folder, 'log.jsonl')
    await writeFile(path, text)
    return path
  }

  it.each([
    ['in the middle of a record', `${line('a')}\n${line('b').slice(0, 20)}`],
    [
      'in the middle of a character',
      Buffer.from(`${line('a')}\n${line('ä')}`).subarray(0, line('a').length + 70),
    ],
    ['right after a record', `${line('a')}\n`],
    ['before the line break of a record', line('a')],
    ['with empty lines', `${line('a')}\n\n\n`],
  ])('leaves out what a crash tore off %s', async (_where, text) => {
    await using directory = await tempDir()
    expect(await recordsOf(await write(directory.path, text))).toEqual([noteRecord('a')])
  })

  it('reads records that are larger than what is read at once', async () => {
    await using directory = await tempDir()
    const records = [noteRecord('ä'.repeat(200_000)), noteRecord('b')]
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('')
    expect(await recordsOf(await write(directory.path, text))).toEqual(records)
  })

  it.each([
    ['garbage between records', `${line('a')}\ngarbage\n${line('b')}\n`, 2, 'not a line of JSON'],
    ['a record of no known kind', `${line('a')}\n{"type":"other"}\n`, 2, 'not a belljar log record'],
    [
      'a record with a wrong field',
      `${line('a')}\n${line('b').replace('info', 'loud')}\n`,
      2,
      'not a belljar',
    ],
    ['a file that is no log', 'hello', 1, 'not a line of JSON; is this a belljar log?'],
  ])('refuses %s with file and line', async (_what, text, number, message) => {
    await using directory = await tempDir()
    const path = await write(directory.path, text)
    const read = recordsOf(path)
    await expect(read).rejects.toBeInstanceOf(ConfigError)
    await expect(read).rejects.toThrow(`${path}:${number}: ${message}`)
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

  it('closes the file when the reader stops early', async () => {
    await using directory = await tempDir()
    const path = await write(directory.path, `${line('a')}\n`.repeat(5000))
    for await (const record of readLog(path)) {
      expect(record).toEqual(noteRecord('a'))
      break
    }
  })
})
