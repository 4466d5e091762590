import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/errors.ts'
import { Journal } from '../../../src/log/journal/journal.ts'
import { listLogs } from '../../../src/log/read/list-logs.ts'
import { finishLog } from '../../../src/log/write/finish-log.ts'
import { LogWriter } from '../../../src/log/write/log-writer.ts'
import { logOfKind } from '../../support/log-kinds.ts'
import { footerRecord, headerRecord, recordsOf, sampleRecord } from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

const RECORDS = [headerRecord(), sampleRecord(), footerRecord()]

describe('a log writer', () => {
  it('leaves the finished log alone when it is closed after the footer', async () => {
    await using directory = await tempDir()
    const writer = await LogWriter.open(directory.path, 'log')
    for (const record of RECORDS) await writer.append(record)
    expect(writer.path).toBe(join(directory.path, 'log.journal.jsonl'))
    await writer.close()
    expect(writer.path).toBe(writer.finishedPath)
    expect(await readdir(directory.path)).toEqual(['log.eval'])
    expect(await recordsOf(writer.path)).toEqual(RECORDS)
  })

  it('leaves the journal when it is closed without a footer', async () => {
    await using directory = await tempDir()
    const writer = await LogWriter.open(directory.path, 'log')
    await writer.append(headerRecord())
    await writer.close()
    expect(await readdir(directory.path)).toEqual(['log.journal.jsonl'])
  })

  it('keeps the journal and says so when the disk is full', async () => {
    await using directory = await tempDir()
    const warnings: string[] = []
    const writer = await LogWriter.open(directory.path, 'log', { warn: (message) => warnings.push(message) })
    await symlink('/dev/full', `${writer.finishedPath}.part`)
    for (const record of RECORDS) await writer.append(record)
    await writer.close()
    expect(warnings).toEqual([expect.stringMatching(/stays a journal: .*ENOSPC.*belljar log recover/)])
    expect(await readdir(directory.path)).toEqual(['log.journal.jsonl'])
    expect(await recordsOf(writer.path)).toEqual(RECORDS)
    expect((await finishLog(writer.path)).samples).toBe(1)
  })

  it.each(['never', 'records', 'always'] as const)('writes the same with fsync %s', async (fsync) => {
    await using directory = await tempDir()
    const writer = await LogWriter.open(directory.path, 'log', { fsync })
    for (const record of RECORDS) await writer.append(record)
    await writer.close()
    expect(await recordsOf(writer.path)).toEqual(RECORDS)
  })

  it('says before anything is run that a folder cannot be written', async () => {
    const opened = LogWriter.open('/proc/no-such', 'log')
    await expect(opened).rejects.toBeInstanceOf(ConfigError)
    await expect(opened).rejects.toThrow(/cannot write the log: .*--log-dir/)
  })

  it.skipIf(!existsSync('/dev/shm'))(
    'works in a folder on another file system than that of temporary files',
    async () => {
      const directory = await mkdtemp('/dev/shm/belljar-test-')
      try {
        expect((await recordsOf(await logOfKind('epochs', directory))).length).toBeGreaterThan(9)
      } finally {
        await rm(directory, { recursive: true })
      }
    },
  )
})

describe('the lock of a log', () => {
  it('refuses a second writer, and one that would finish the log, until the first has ended', async () => {
    await using directory = await tempDir()
    const journal = await Journal.create(directory.path, 'log.journal.jsonl')
    for (const record of RECORDS) await journal.append(record)
    const refusal = new RegExp(`being written by process ${process.pid}`)
    await expect(Journal.create(directory.path, 'log.journal.jsonl')).rejects.toThrow(refusal)
    await expect(finishLog(journal.path, { recover: true })).rejects.toThrow(refusal)
    expect((await listLogs(directory.path)).map(({ status }) => status)).toEqual(['running'])
    await journal.close()
    await finishLog(journal.path)
  })

  it.each([
    ['a process that is gone', { pid: 2 ** 22 + 5, host: hostname() }],
    ['nobody, torn as it is', undefined],
  ])('of %s is taken over', async (_who, owner) => {
    await using directory = await tempDir()
    const path = join(directory.path, 'log.journal.jsonl.lock')
    await writeFile(path, owner ? JSON.stringify(owner) : '{"pi')
    await using journal = await Journal.create(directory.path, 'log.journal.jsonl')
    await journal.append(headerRecord())
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid })
  })

  it.each([
    ['on another host', { pid: 1, host: 'elsewhere' }, 'process 1 on host elsewhere'],
    ['that lives here', { pid: process.ppid, host: hostname() }, `process ${process.ppid}`],
  ])('of a process %s is respected', async (_where, owner, name) => {
    await using directory = await tempDir()
    const lock = join(directory.path, 'log.journal.jsonl.lock')
    await writeFile(lock, JSON.stringify(owner))
    await expect(Journal.create(directory.path, 'log.journal.jsonl')).rejects.toThrow(
      new RegExp(`${name};.*remove .*log\\.journal\\.jsonl\\.lock`),
    )
    expect(await readdir(directory.path)).toEqual(['log.journal.jsonl.lock'])
  })

  it('is taken by one of many that find it left behind', async () => {
    await using directory = await tempDir()
    await writeFile(
      join(directory.path, 'log.journal.jsonl.lock'),
      JSON.stringify({ pid: 2 ** 22 + 5, host: hostname() }),
    )
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, () => Journal.create(directory.path, 'log.journal.jsonl')),
    )
    const made = tries.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    expect(made).toHaveLength(1)
    await made[0]?.close()
    expect(await readdir(directory.path)).toEqual(['log.journal.jsonl'])
  })
})
