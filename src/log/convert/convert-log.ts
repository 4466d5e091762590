import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EvalFile } from '../eval/file/eval-file.ts'
import { toEvalJson } from '../eval/file/eval-json.ts'
import { toJson } from '../journal/jsonl.ts'
import { isFinishedPath, recordsPathOf } from '../log-paths.ts'
import { readLog, readOverview } from '../read/log-reader.ts'
import { convertJournal } from './convert-journal.ts'
import { csvLine, flatRow } from './flat-row.ts'

/** `json`: Inspect's own; `jsonl`: a sample's record a line; `csv` and `parquet-friendly`: a sample a row, the second as JSON lines that all have the same fields. */
export const LOG_FORMATS = ['json', 'jsonl', 'csv', 'parquet-friendly'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** A log in another form, in pieces. @throws ConfigError */
export async function* convertLog(path: string, format: LogFormat): AsyncGenerator<string> {
  if (format === 'json') yield* inspectJson(path)
  else if (format === 'jsonl') yield* sampleLines(path)
  else yield* rows(path, format)
}

async function* inspectJson(path: string): AsyncGenerator<string> {
  const found = recordsPathOf(path)
  if (isFinishedPath(found)) {
    await using file = await EvalFile.open(found)
    yield* toEvalJson(file)
    return
  }
  const directory = await mkdtemp(join(tmpdir(), 'belljar-convert-'))
  try {
    const finished = join(directory, 'log.eval')
    await convertJournal(found, finished, { recover: true })
    await using file = await EvalFile.open(finished)
    yield* toEvalJson(file)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function* sampleLines(path: string): AsyncGenerator<string> {
  for await (const record of readLog(path)) if (record.type === 'sample') yield `${toJson(record)}\n`
}

async function* rows(path: string, format: 'csv' | 'parquet-friendly'): AsyncGenerator<string> {
  const { header } = await readOverview(path)
  let isFirst = true
  for await (const record of readLog(path)) {
    if (record.type !== 'sample') continue
    const row = flatRow(header, record)
    if (isFirst && format === 'csv') yield csvLine(Object.keys(row))
    isFirst = false
    yield format === 'csv' ? csvLine(Object.values(row)) : `${toJson(row)}\n`
  }
}
