import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { EvalFile } from '../../../src/log/eval/file/eval-file.ts'
import { Journal } from '../../../src/log/journal/journal.ts'
import { LiveLog } from '../../../src/log/live/live-log.ts'
import { listLogs } from '../../../src/log/read/list-logs.ts'
import { readSample } from '../../../src/log/read/log-reader.ts'
import type { SampleRecord } from '../../../src/log/records/records.ts'
import { finishLog } from '../../../src/log/write/finish-log.ts'
import { LogWriter } from '../../../src/log/write/log-writer.ts'
import {
  eventRecord,
  footerRecord,
  headerRecord,
  recordsOf,
  sampleRecord,
} from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** Large enough, however it is packed, for a directory of few members to cost little beside it. */
const large = (id: number, more: Partial<SampleRecord> = {}) =>
  sampleRecord({ uuid: `u${id}`, id, input: randomBytes(2000).toString('hex'), ...more })
const event = (id: number) =>
  eventRecord(`u${id}`, { type: 'info', startedMs: 1_767_323_045_678, source: 's', data: id })

async function journalIn(directory: string): Promise<Journal> {
  const journal = await Journal.create(directory, 'log.journal.jsonl')
  await journal.append(headerRecord())
  return journal
}

async function idsIn(path: string): Promise<unknown[]> {
  await using file = await EvalFile.open(path)
  const summaries = await file.summaries()
  for (const { id, epoch } of summaries) await file.sample(id, epoch)
  return summaries.map(({ id }) => id)
}

describe('a log while it is written', () => {
  it('is readable after every snapshot, and nothing that it holds is written again', async () => {
    await using directory = await tempDir()
    await using journal = await journalIn(directory.path)
    await journal.append(large(1))
    const live = await LiveLog.open(journal.path)
    await live.advance()
    expect(await idsIn(live.path)).toEqual([1])
    const first = await readFile(live.path)
    await journal.append(event(2))
    await live.advance()
    await journal.append(large(2))
    await live.advance()
    expect(await idsIn(live.path)).toEqual([1, 2])
    await using file = await EvalFile.open(live.path)
    expect([await file.footer(), (await file.headerMember()).status]).toEqual([undefined, 'started'])
    expect((await file.sample(2, 1)).events).toEqual([event(2).event])
    expect((await readFile(live.path)).subarray(0, first.length).equals(first)).toBe(true)
    await live.close()
  })

  it('is not given a new directory for little beside the one that it has', async () => {
    await using directory = await tempDir()
    await using journal = await journalIn(directory.path)
    for (let id = 1; id <= 50; id++) await journal.append(large(id))
    const live = await LiveLog.open(journal.path)
    await live.advance()
    const size = (await readFile(live.path)).length
    await journal.append(sampleRecord({ id: 51 }))
    await live.advance()
    expect((await readFile(live.path)).length).toBe(size)
    await live.close()
  })

  it('becomes the finished log, as one made of the whole journal', async () => {
    await using directory = await tempDir()
    const journal = await journalIn(directory.path)
    const records = [event(1), large(1), large(2), footerRecord()]
    const live = await LiveLog.open(journal.path)
    for (const record of records) {
      await journal.append(record)
      await live.advance()
    }
    await journal.close()
    const { path, samples } = await finishLog(journal.path, { recover: false, live })
    expect([samples, await readdir(directory.path)]).toEqual([2, ['log.eval']])
    expect(await recordsOf(path)).toEqual([headerRecord(), ...records])
  })

  it('is made anew where a sample takes the place of one that it holds', async () => {
    await using directory = await tempDir()
    const journal = await journalIn(directory.path)
    await journal.append(large(1, { status: 'error' }))
    const live = await LiveLog.open(journal.path)
    await live.advance()
    const again = large(1, { uuid: 'again', supersedes: 'u1' })
    for (const record of [again, footerRecord()]) await journal.append(record)
    await journal.close()
    const { path } = await finishLog(journal.path, { recover: false, live })
    expect(await recordsOf(path)).toEqual([headerRecord(), again, footerRecord()])
    expect(await idsIn(path)).toEqual([1])
  })

  it('counts for nothing beside its journal, which is recovered when the run was killed', async () => {
    await using directory = await tempDir()
    const journal = await journalIn(directory.path)
    await journal.append(large(1))
    const live = await LiveLog.open(journal.path)
    await live.advance()
    await live.close()
    await journal.append(large(2))
    await journal.close()
    expect((await listLogs(directory.path)).map(({ path, status }) => [path, status])).toEqual([
      [journal.path, 'unfinished'],
    ])
    expect((await readSample(live.path, { id: '2', epoch: 1 })).record.uuid).toBe('u2')
    await finishLog(journal.path, { recover: true })
    expect([await idsIn(live.path), await readdir(directory.path)]).toEqual([[1, 2], ['log.eval']])
  })
})

describe('the snapshots of a log writer', () => {
  it('come while samples end, and end as the finished log', async () => {
    await using directory = await tempDir()
    const writer = await LogWriter.open(directory.path, 'log', { snapshotMs: 1 })
    await writer.append(headerRecord())
    await writer.append(large(1))
    await vi.waitFor(async () => expect(await idsIn(writer.finishedPath)).toEqual([1]), { timeout: 30_000 })
    await writer.append(large(2))
    await vi.waitFor(async () => expect(await idsIn(writer.finishedPath)).toEqual([1, 2]), {
      timeout: 30_000,
    })
    await writer.append(footerRecord())
    await writer.close()
    expect(await readdir(directory.path)).toEqual(['log.eval'])
    expect(await idsIn(writer.path)).toEqual([1, 2])
  })

  it('are given up, with a word of it, where they cannot be written: the journal is whole', async () => {
    await using directory = await tempDir()
    const warnings: string[] = []
    const warn = (message: string) => warnings.push(message)
    const writer = await LogWriter.open(directory.path, 'log', { snapshotMs: 1, warn })
    await writeFile(join(directory.path, 'log.eval'), 'of somebody else')
    await writer.append(headerRecord())
    await writer.append(large(1))
    await vi.waitFor(
      () => expect(warnings).toEqual([expect.stringMatching(/no further snapshots.*EEXIST/)]),
      {
        timeout: 30_000,
      },
    )
    expect(await readFile(writer.finishedPath, 'utf8')).toBe('of somebody else')
    await writer.append(large(2))
    await writer.close()
    expect((await recordsOf(join(directory.path, 'log.journal.jsonl'))).length).toBe(3)
  })
})
