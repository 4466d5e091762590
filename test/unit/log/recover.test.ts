import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { Journal } from '../../../src/log/journal/journal.ts'
import { listLogs } from '../../../src/log/read/list-logs.ts'
import { readOverview, readSample } from '../../../src/log/read/log-reader.ts'
import type { LogRecord } from '../../../src/log/records/records.ts'
import { finishLog } from '../../../src/log/write/finish-log.ts'
import {
  eventRecord,
  footerRecord,
  headerRecord,
  noteRecord,
  recordsOf,
  sampleRecord,
} from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

const NAME = 'log.journal.jsonl'
const JITI = join(import.meta.dirname, '../../../node_modules/jiti/lib/jiti-cli.mjs')

async function journalIn(directory: string, records: readonly LogRecord[]): Promise<string> {
  const journal = await Journal.create(directory, NAME)
  for (const record of records) await journal.append(record)
  await journal.close()
  return journal.path
}

const started = (uuid: string, id: string): LogRecord => ({
  type: 'sample-start',
  uuid,
  id,
  epoch: 2,
  startedAt: '2026-01-02T03:04:05.678Z',
  input: `input of ${id}`,
  target: 't',
})

/** Ids that a writer said were in its journal when it was killed. */
async function killedWriter(directory: string, samples: number): Promise<number[]> {
  const script = join(import.meta.dirname, '../../support/journal-writer.ts')
  const child = spawn(process.execPath, [JITI, script, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const ids: number[] = []
  for await (const line of createInterface(child.stdout)) {
    ids.push(Number(line))
    if (ids.length === samples) child.kill('SIGKILL')
  }
  await exited
  return ids
}

describe('recovering a log', () => {
  it('loses no sample that a killed writer had said was done, and marks the others', async () => {
    await using directory = await tempDir()
    const done = await killedWriter(directory.path, 40)
    const path = join(directory.path, NAME)
    expect((await listLogs(directory.path)).map(({ status }) => status)).toEqual(['unfinished'])
    const recovered = await finishLog(path, { recover: true })
    expect(recovered.footer).toMatchObject({
      status: 'error',
      error: { code: 'recovered' },
      sourceEnded: false,
    })
    const { samples, footer } = await readOverview(recovered.path)
    const ended = samples.filter(({ status }) => status === 'success').map(({ id }) => id)
    expect(ended).toEqual(expect.arrayContaining(done))
    expect(samples.filter(({ status }) => status === 'cancelled')).toHaveLength(recovered.cancelled)
    expect(footer?.totals).toMatchObject({ total: samples.length, success: ended.length })
    expect(await readdir(directory.path)).toEqual(['log.eval'])
  }, 60_000)

  it('loses no sample that a run had told of before its disk was full', async () => {
    await using directory = await tempDir()
    const script = join(import.meta.dirname, '../../support/full-disk-run.ts')
    // Of a file, but as on a disk: the write that does not fit is cut off, and the next one fails.
    const limited = ['-c', 'ulimit -f 500; exec "$@"', 'bash', process.execPath, JITI, script, directory.path]
    const { stdout } = spawnSync('bash', limited, {
      encoding: 'utf8',
      env: { ...process.env, JITI_FS_CACHE: 'false' },
      timeout: 60_000,
    })
    const lines = stdout.trimEnd().split('\n')
    const outcome = JSON.parse(lines.pop() ?? '')
    expect(outcome).toMatchObject({ status: 'error', footer: { error: { kind: 'log' } } })
    expect(outcome.footer.error.message).toMatch(/EFBIG/)
    const [journal = ''] = (await readdir(directory.path)).filter((name) => name.endsWith('.journal.jsonl'))
    const { path } = await finishLog(join(directory.path, journal), { recover: true })
    const { samples } = await readOverview(path)
    const ended = samples.filter(({ status }) => status === 'success').map(({ id }) => String(id))
    expect(lines.length).toBeGreaterThan(5)
    expect(ended).toEqual(expect.arrayContaining(lines))
  }, 60_000)

  it('keeps what a sample that was under way had done', async () => {
    await using directory = await tempDir()
    const event = eventRecord('b', { type: 'info', startedMs: 1_767_323_050_678, source: 's', data: 1 })
    const path = await journalIn(directory.path, [
      headerRecord({ scorers: [{ name: 'exact', metrics: ['accuracy', 'own'] }] }),
      started('a', 'done'),
      started('b', 'under way'),
      sampleRecord({ uuid: 'a', id: 'done', epoch: 2, scores: { exact: { value: 'C' } } }),
      event,
    ])
    const { path: log, footer, cancelled } = await finishLog(path, { recover: true })
    expect(cancelled).toBe(1)
    expect(footer.scores).toEqual([
      {
        scorer: 'exact',
        scored: 1,
        unscored: 0,
        metrics: [
          { name: 'accuracy', value: 1 },
          { name: 'own', value: null },
        ],
      },
    ])
    const { record, events } = await readSample(log, { id: 'under way', epoch: 2 })
    expect(record).toMatchObject({
      status: 'cancelled',
      input: 'input of under way',
      target: 't',
      totalMs: 5000,
    })
    expect(events).toEqual([event.event])
  })

  it('changes nothing of a journal with an end', async () => {
    await using directory = await tempDir()
    const records = [headerRecord(), sampleRecord(), footerRecord()]
    const { path } = await finishLog(await journalIn(directory.path, records), { recover: true })
    expect(await recordsOf(path)).toEqual(records)
  })

  it('leaves damaged lines out, counts them and keeps the journal under another name', async () => {
    await using directory = await tempDir()
    const path = await journalIn(directory.path, [
      headerRecord(),
      noteRecord('lost'),
      sampleRecord(),
      footerRecord(),
    ])
    await writeFile(path, (await readFile(path, 'utf8')).replace('lost', 'l0st'))
    await expect(finishLog(path)).rejects.toThrow(/log\.journal\.jsonl:2: a damaged line/)
    const { path: log, damagedLines, keptJournal } = await finishLog(path, { recover: true })
    expect(damagedLines).toBe(1)
    expect(await readdir(directory.path)).toEqual(['log.eval', 'log.journal.jsonl.damaged'])
    expect(keptJournal).toBe(`${path}.damaged`)
    expect(await recordsOf(log)).toEqual([headerRecord(), sampleRecord(), footerRecord()])
  })

  it('leaves out what was torn off at the end', async () => {
    await using directory = await tempDir()
    const path = await journalIn(directory.path, [headerRecord(), sampleRecord()])
    await appendFile(path, '{"type":"sample","uuid":"u2"')
    const { samples, damagedLines } = await finishLog(path, { recover: true })
    expect([samples, damagedLines]).toEqual([1, 0])
  })

  it('refuses a journal without an end unless it is asked to recover, and leaves it as it is', async () => {
    await using directory = await tempDir()
    const path = await journalIn(directory.path, [headerRecord(), sampleRecord()])
    const before = await readFile(path)
    await expect(finishLog(path)).rejects.toThrow(/the log has no end; belljar log recover/)
    expect(await readFile(path)).toEqual(before)
    expect(await readdir(directory.path)).toEqual([NAME])
  })

  it('refuses a file without a header', async () => {
    await using directory = await tempDir()
    const path = await journalIn(directory.path, [sampleRecord()])
    await expect(finishLog(path, { recover: true })).rejects.toThrow('the log has no header')
  })
})
