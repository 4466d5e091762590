import { readLog } from '../../src/log/log-reader.ts'
import type { LogRecord, SampleRecord } from '../../src/log/records.ts'

type NoteRecord = Extract<LogRecord, { type: 'note' }>

export function noteRecord(message: string): NoteRecord {
  return { type: 'note', at: '2026-01-02T03:04:05.678Z', level: 'info', message }
}

export function sampleRecord(more: Partial<SampleRecord> = {}): SampleRecord {
  return {
    type: 'sample',
    uuid: 'u1',
    id: 1,
    epoch: 1,
    attempt: 1,
    status: 'success',
    input: 'question',
    metadata: {},
    messages: [],
    output: '',
    scores: {},
    startedAt: '2026-01-02T03:04:05.678Z',
    completedAt: '2026-01-02T03:04:06.678Z',
    totalMs: 1000,
    workingMs: 900,
    phases: [],
    usage: {},
    ...more,
  }
}

/** All that a log holds. */
export async function recordsOf(path: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of readLog(path)) records.push(record)
  return records
}
