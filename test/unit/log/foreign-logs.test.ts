import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { convertLog, LOG_FORMATS, type LogFormat } from '../../../src/log/convert/convert-log.ts'
import { parsePythonJson } from '../../../src/log/journal/jsonl.ts'
import { listLogs } from '../../../src/log/read/list-logs.ts'
import { readOverview, readSample } from '../../../src/log/read/log-reader.ts'
import { logOfKind } from '../../support/log-kinds.ts'
import { recordsOf } from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** Written by inspect_ai 0.3.285: two samples, two epochs, one of the samples fails; members packed by Zstandard. */
const FOLDER = join(import.meta.dirname, '../../corpus/inspect-logs')
const FOREIGN = join(FOLDER, '2026-12-01T01-25-49-00-00_arith_mHy2QKNSBMKTcsFGv4rqt3.eval')

async function converted(path: string, format: LogFormat): Promise<string> {
  const pieces: string[] = []
  for await (const piece of convertLog(path, format)) pieces.push(piece)
  return pieces.join('')
}

describe('a log that Inspect wrote', () => {
  it('is shown with outcome, scores and samples', async () => {
    const { header, footer, samples } = await readOverview(FOREIGN)
    expect(header).toMatchObject({ task: { name: 'arith' }, model: 'mockllm/model', epochs: 2 })
    expect(footer).toMatchObject({ status: 'success', totals: { total: 4, success: 2, error: 2 } })
    expect(footer?.scores[0]).toMatchObject({
      scorer: 'includes',
      scored: 1,
      unscored: 0,
      metrics: [
        { name: 'accuracy', value: 1 },
        { name: 'stderr', value: 0 },
      ],
    })
    expect(samples.filter(({ status }) => status === 'success').map(({ id }) => id)).toEqual(['a', 'a'])
  })

  it('gives a sample with its messages, tool calls and events', async () => {
    const { record, events } = await readSample(FOREIGN, { id: 'a', epoch: 1 })
    expect(record.messages.at(-1)).toMatchObject({ role: 'assistant', content: /^the answer is 3/ })
    expect(record.metadata).toEqual({ n: 'NaN' })
    const calls = events.filter(({ type }) => type === 'model-output')
    expect(calls.length).toBeGreaterThan(0)
    expect(calls[0]).toMatchObject({ model: 'mockllm/model', input: [{ role: 'user', content: '1+2?' }] })
  })

  it('is listed', async () => {
    expect(await listLogs(FOLDER)).toMatchObject([{ status: 'success', header: { task: { name: 'arith' } } }])
  })

  it('is written as records, with errors as errors', async () => {
    const records = await recordsOf(FOREIGN)
    const errors = records.flatMap((record) =>
      record.type === 'sample' && record.error ? [record.error] : [],
    )
    expect(errors).toHaveLength(2)
    expect(errors[0]).toMatchObject({ kind: 'internal', message: "ValueError('broke')" })
  })
})

describe('converting a log', () => {
  it.each(LOG_FORMATS)('of ours and of Inspect to %s gives every sample', async (format) => {
    await using directory = await tempDir()
    for (const [path, samples] of [
      [FOREIGN, 4],
      [await logOfKind('epochs', directory.path), 9],
    ] as const) {
      const text = await converted(path, format)
      if (format === 'json')
        expect((parsePythonJson(text) as { samples: unknown[] }).samples).toHaveLength(samples)
      else if (format === 'csv') expect(text.split('\r\n')).toHaveLength(samples + 2)
      else
        expect(
          text
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line)),
        ).toHaveLength(samples)
    }
  })

  it('to json puts what readers want first before the samples', async () => {
    await using directory = await tempDir()
    const keys = Object.keys(
      parsePythonJson(await converted(await logOfKind('tools', directory.path), 'json')) as object,
    )
    expect(keys.slice(0, 5)).toEqual(['version', 'status', 'eval', 'plan', 'results'])
    expect(keys.slice(-2)).toEqual(['samples', 'reductions'])
  })

  it('to parquet-friendly gives every row the same fields', async () => {
    await using directory = await tempDir()
    const lines = (await converted(await logOfKind('error-kept', directory.path), 'parquet-friendly'))
      .trimEnd()
      .split('\n')
    const rows = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(new Set(rows.map((row) => Object.keys(row).join())).size).toBe(1)
    expect(rows.find(({ input }) => input === 'bad')).toMatchObject({
      status: 'error',
      error_kind: 'agent',
      score_exact: null,
    })
  })

  it('to csv keeps commas, quotes and line breaks in their cells', async () => {
    const { csvLine } = await import('../../../src/log/convert/flat-row.ts')
    expect(csvLine(['a,b', 'say "x"', 'two\nlines', null, 1])).toBe('"a,b","say ""x""","two\nlines",,1\r\n')
  })

  it('takes a log that is still a journal', async () => {
    await using directory = await tempDir()
    const copy = join(directory.path, 'x.eval')
    await copyFile(await logOfKind('success', directory.path), copy)
    expect(JSON.stringify(parsePythonJson(await converted(copy, 'json')))).toContain(
      '1237940039285380274899124224',
    )
  })
})
