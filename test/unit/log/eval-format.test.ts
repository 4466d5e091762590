import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { TranscriptEvent } from '../../../src/agent/transcript.ts'
import { RECORDS_MEMBER } from '../../../src/log/eval/file/eval-writer.ts'
import { toSampleMember } from '../../../src/log/eval/sample.ts'
import {
  headerMemberSchema,
  reductionsSchema,
  sampleMemberSchema,
  startSchema,
  summariesSchema,
} from '../../../src/log/eval/schema/members.ts'
import { parsePythonJson } from '../../../src/log/journal/jsonl.ts'
import { ZipFile } from '../../../src/log/zip/zip-file.ts'
import { KINDS, logOfKind } from '../../support/log-kinds.ts'
import { recordsOf, sampleRecord } from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

const kinds = Object.keys(KINDS)

/** Members in the order in which they must be written, each with its schema. */
const MEMBERS: readonly [RegExp, z.ZodType | undefined][] = [
  [/^_journal\/start\.json$/, startSchema],
  [/^samples\/.*_epoch_\d+\.json$/s, sampleMemberSchema],
  [/^_journal\/summaries\/\d+\.json$/, summariesSchema],
  [/^summaries\.json$/, summariesSchema],
  [/^reductions\.json$/, reductionsSchema],
  [new RegExp(`^${RECORDS_MEMBER}$`), undefined],
  [/^header\.json$/, headerMemberSchema],
]

const placeOf = (name: string) => MEMBERS.findIndex(([pattern]) => pattern.test(name))

describe.each(kinds)('the finished log of a run of kind %s', (kind) => {
  it('has the members of the format, in order, and each fits its schema', async () => {
    await using directory = await tempDir()
    const path = await logOfKind(kind, directory.path)
    expect(path).toMatch(/\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-00-00_[A-Za-z0-9.-]+_[0-9a-f]{16}\.eval$/)
    await using zip = await ZipFile.open(path)
    const places = zip.names.map(placeOf)
    expect(places).not.toContain(-1)
    expect(places).toEqual([...places].sort())
    expect(zip.names).toEqual(
      expect.arrayContaining(['_journal/start.json', 'summaries.json', 'header.json']),
    )
    for (const name of zip.names) {
      const parsed = MEMBERS[placeOf(name)]?.[1]?.safeParse(parsePythonJson(await zip.text(name)))
      expect(parsed?.error?.issues ?? [], name).toEqual([])
    }
  })

  it('is the only file that is left in the folder, and agrees with itself', async () => {
    await using directory = await tempDir()
    const path = await logOfKind(kind, directory.path)
    expect((await readdir(directory.path)).map((name) => join(directory.path, name))).toEqual([path])
    await using zip = await ZipFile.open(path)
    const header = headerMemberSchema.parse(parsePythonJson(await zip.text('header.json')))
    const summaries = summariesSchema.parse(parsePythonJson(await zip.text('summaries.json')))
    const samples = zip.names.filter((name) => name.startsWith('samples/'))
    expect(samples.sort()).toEqual(
      summaries.map(({ id, epoch }) => `samples/${id}_epoch_${epoch}.json`).sort(),
    )
    const records = (await recordsOf(path)).flatMap((record) => (record.type === 'sample' ? [record] : []))
    expect(records).toHaveLength(summaries.length)
    expect(header.results?.completed_samples).toBe(
      records.filter(({ status }) => status === 'success' || status === 'limit').length,
    )
  })
})

describe('the spans of a sample', () => {
  const at = 1_767_323_045_678
  const exec = (startedMs: number) =>
    ({ type: 'sandbox-call', startedMs, durationMs: 0, service: 'default', action: 'exec' }) as const
  const call = (startedMs: number) =>
    ({
      type: 'tool-call',
      startedMs,
      durationMs: 0,
      call: { id: 'c', name: 'bash', arguments: {} },
      result: '',
    }) as const
  const placed = (events: readonly TranscriptEvent[]) => {
    const phases = [
      { name: 'agent', startedMs: at + 50, durationMs: 100 },
      { name: 'score', startedMs: at + 150, durationMs: 10 },
    ]
    const { events: shown = [] } = toSampleMember(sampleRecord({ phases }), events)
    return shown.flatMap((event) =>
      event.event === 'sandbox' || event.event === 'tool' ? [`${event.event} ${event.span_id}`] : [],
    )
  }

  it('begin when their phases did, however long it took to get there', () => {
    expect(placed([exec(at + 20), exec(at + 60), exec(at + 149), exec(at + 151)])).toEqual([
      'sandbox undefined',
      'sandbox u1-agent',
      'sandbox u1-agent',
      'sandbox u1-score',
    ])
  })

  it('have what was recorded before more of their own, in the millisecond in which the next begins', () => {
    expect(placed([exec(at + 150), call(at + 150), exec(at + 150)])).toEqual([
      'tool u1-agent',
      'sandbox u1-agent',
      'sandbox u1-score',
    ])
  })
})

describe('a finished log', () => {
  it('names the agent, and reduces the scores of what failed where they count', async () => {
    await using directory = await tempDir()
    await using zip = await ZipFile.open(await logOfKind('error-scored', directory.path))
    const header = headerMemberSchema.parse(parsePythonJson(await zip.text('header.json')))
    expect(header.plan).toMatchObject({ steps: [{ solver: 'agent' }] })
    const [reduction] = reductionsSchema.parse(parsePythonJson(await zip.text('reductions.json')))
    expect(reduction?.samples).toHaveLength(2)
    expect(header.results?.scores[0]?.scored_samples).toBe(2)
  })
})
