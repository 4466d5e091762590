import type { TranscriptEvent } from '../../src/agent/transcript.ts'
import { readLog } from '../../src/log/read/log-reader.ts'
import type {
  EventRecord,
  FooterRecord,
  HeaderRecord,
  LogRecord,
  SampleRecord,
} from '../../src/log/records/records.ts'

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

export function eventRecord(uuid: string, event: TranscriptEvent): EventRecord {
  return { type: 'event', uuid, event }
}

export function headerRecord(more: Partial<HeaderRecord> = {}): HeaderRecord {
  return {
    type: 'header',
    version: 1,
    belljar: '0.0.0',
    run: 'r1',
    eval: 'e1',
    createdAt: '2026-01-02T03:04:05.678Z',
    task: { name: 'a-task', parameters: {} },
    dataset: { kind: 'fixed', samples: 1, sampleIds: [1] },
    scorers: [],
    epochs: 1,
    config: { maxSamples: 1, maxSandboxes: 1, failOnError: true, limits: {}, sandboxes: [] },
    ...more,
  }
}

export function footerRecord(more: Partial<FooterRecord> = {}): FooterRecord {
  return {
    type: 'footer',
    status: 'success',
    completedAt: '2026-01-02T03:04:07.678Z',
    totals: { total: 1, success: 1, error: 0, limit: 0, cancelled: 0 },
    scores: [],
    sourceEnded: true,
    ...more,
  }
}
