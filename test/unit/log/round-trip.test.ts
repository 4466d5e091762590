import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TranscriptEvent } from '../../../src/agent/transcript.ts'
import { Journal } from '../../../src/log/journal/journal.ts'
import type { LogRecord } from '../../../src/log/records/records.ts'
import { finishLog } from '../../../src/log/write/finish-log.ts'
import type { ContentPart } from '../../../src/sample/content.ts'
import {
  eventRecord,
  footerRecord,
  headerRecord,
  noteRecord,
  recordsOf,
  sampleRecord,
} from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** What the finished log of a journal with these records gives back. */
async function finished(records: readonly LogRecord[]): Promise<LogRecord[]> {
  await using directory = await tempDir()
  const journal = await Journal.create(directory.path, 'log.journal.jsonl')
  for (const record of records) await journal.append(record)
  await journal.close()
  await copyFile(journal.path, join(directory.path, 'copy'))
  return recordsOf((await finishLog(journal.path)).path)
}

const long = 'output '.repeat(400)
const call = { id: 'c1', name: 'bash', arguments: { command: long } }
const answer = { role: 'assistant', content: 'I look.', toolCalls: [call], model: 'm/x' } as const
const result = {
  role: 'tool',
  content: long,
  toolCallId: 'c1',
  toolName: 'bash',
  error: { kind: 'not-found', message: 'none' },
} as const
const user = { role: 'user', content: 'attachment://not-one' } as const
const usage = { inputTokens: 3, outputTokens: 4, cacheReadTokens: 1 }
const at = (startedMs: number) => ({ startedMs: 1_767_323_045_678 + startedMs, durationMs: 5 })

const MEDIA: readonly ContentPart[] = [
  { type: 'text', text: long },
  { type: 'image', data: 'aGVsbG8='.repeat(50), mediaType: 'image/png', detail: 'low' },
  { type: 'audio', data: 'aGVsbG8=', mediaType: 'audio/mpeg' },
  { type: 'video', data: 'aGVsbG8=', mediaType: 'video/quicktime' },
  { type: 'document', data: 'aGVsbG8=', mediaType: 'application/pdf', filename: 'a.pdf' },
]

const EVENTS: readonly TranscriptEvent[] = [
  {
    type: 'model-output',
    ...at(0),
    model: 'm/x',
    inputFrom: 0,
    input: [{ role: 'system', content: long }, user],
    output: { message: answer, stopReason: 'tool-calls', usage },
  },
  {
    type: 'sandbox-call',
    ...at(10),
    service: 'web',
    action: 'exec',
    command: ['sh', '-c', "it's"],
    exitCode: 137,
    output: long,
    bytes: 2800,
  },
  {
    type: 'sandbox-call',
    ...at(11),
    service: 'default',
    action: 'read',
    path: '/x',
    error: { code: 'file-not-found', message: 'no' },
  },
  { type: 'sandbox-call', ...at(12), service: 'default', action: 'upload', path: '/y' },
  { type: 'tool-call', ...at(9), call, result: long, error: { kind: 'not-found', message: 'none' } },
  { type: 'info', startedMs: at(20).startedMs, source: 'me', data: { deep: [long, 1, null] } },
  {
    type: 'model-output',
    ...at(30),
    model: 'm/x',
    role: 'grader',
    inputFrom: 3,
    input: [result],
    inputRefs: [[0, 4]],
    tools: [{ name: 'bash', description: 'Runs.', parameters: { $schema: 'x', type: 'object', oneOf: [] } }],
    toolChoice: { name: 'bash' },
    config: { temperature: 0.5, stopSequences: ['x'], providerOptions: { m: { deep: [1] } } },
    call: {
      request: { model: 'x', [long]: 1 },
      key: 'messages',
      items: [{ role: 'user', content: long }],
      itemsFrom: 0,
      itemsRefs: [[0, 1]],
      response: { error: long },
    },
    error: 'refused',
  },
  {
    type: 'model-retry',
    ...at(35),
    model: 'm/x',
    attempt: 1,
    pauseMs: 3,
    error: { kind: 'overloaded', message: 'x', status: 503 },
  },
  {
    type: 'model-output',
    ...at(40),
    model: 'other',
    inputFrom: 4,
    input: [{ role: 'user', content: MEDIA }],
    inputRefs: [[4, 5]],
    call: { request: { body: 'text' }, key: 'messages', items: [], itemsFrom: 1, itemsRefs: [[0, 1]] },
    output: {
      message: {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: long, signature: 's', providerData: { m: { id: 1 } } },
          { type: 'text', text: 'ok', providerData: { m: { id: 2 } } },
        ],
        toolCalls: [{ ...call, providerData: { m: { signature: 'x' } } }, call],
      },
      stopReason: 'context-length',
      usage: { inputTokens: 9, outputTokens: 1, cacheWriteTokens: 2, reasoningTokens: 1, cost: 0.25 },
      warnings: ['no seed'],
      retries: 2,
      cache: 'write',
      durationMs: 1.5,
    },
  },
]

describe('a finished log', () => {
  it('gives back the events of a sample as they were recorded', async () => {
    const sample = sampleRecord({
      phases: [
        { name: 'start', durationMs: 5 },
        { name: 'agent', durationMs: 500 },
      ],
    })
    const events = EVENTS.map((event) => eventRecord(sample.uuid, event))
    const log = await finished([headerRecord(), ...events, sample, footerRecord()])
    expect(log.filter(({ type }) => type === 'event')).toEqual(events)
  })

  it.each<[string, Parameters<typeof sampleRecord>[0]]>([
    [
      'a success',
      {
        messages: [user, answer, result],
        output: 'x',
        scores: { exact: { value: 'C', answer: 'x', explanation: long } },
        usage: { 'm/x': { ...usage } },
      },
    ],
    [
      'an error',
      {
        status: 'error',
        error: {
          kind: 'sandbox',
          code: 'sandbox-unavailable',
          message: 'gone',
          stack: 'at x',
          postMortem: 'oom',
        },
      },
    ],
    ['a time limit', { status: 'limit', limit: { type: 'time', limit: 1500 } }],
    ['a limit that Inspect has no name for', { status: 'limit', limit: { type: 'disk', limit: 7 } }],
    ['a cancelled sample', { status: 'cancelled' }],
    [
      'one with all its fields',
      {
        id: '../x/ü\\',
        target: ['a', 'b'],
        choices: ['a', 'b'],
        files: ['/f'],
        setup: 'true',
        sandbox: { kind: 'docker', key: 'k', images: { default: 'sha256:1' } },
        metadata: { deep: { a: [1, null] } },
      },
    ],
    [
      'one that was tried before',
      {
        attempt: 2,
        earlier: [{ uuid: 'u0', attempt: 1, error: { kind: 'agent', code: 'error', message: 'm' } }],
      },
    ],
    [
      'text that is hostile',
      { input: '\u0000\u001b[2J\u202e', output: 'a\ud800b', metadata: { 'k\udfff': 'v' } },
    ],
  ])('gives back the record of %s', async (_what, more) => {
    const sample = sampleRecord(more)
    const log = await finished([headerRecord(), sample, footerRecord()])
    expect(log.find(({ type }) => type === 'sample')).toEqual(JSON.parse(JSON.stringify(sample)))
  })

  it('gives back header, notes and footer', async () => {
    const header = headerRecord({ scorers: [{ name: 'exact', metrics: ['accuracy', 'stderr'] }] })
    const footer = footerRecord({
      scores: [{ scorer: 'exact', scored: 0, unscored: 0, metrics: [{ name: 'accuracy', value: null }] }],
    })
    const log = await finished([header, noteRecord('a'), noteRecord('b'), footer])
    expect(log).toEqual([header, noteRecord('a'), noteRecord('b'), footer])
  })

  it('shows a sample that another took the place of no more', async () => {
    const first = sampleRecord({ uuid: 'one', status: 'error' })
    const second = sampleRecord({ uuid: 'two', supersedes: 'one', output: 'better' })
    const log = await finished([headerRecord(), first, second, footerRecord()])
    expect(log.filter(({ type }) => type === 'sample')).toEqual([second])
  })

  it('keeps the events of samples that ran at the same time apart', async () => {
    const records: LogRecord[] = []
    for (let turn = 0; turn < 50; turn++)
      for (const uuid of ['a', 'b', 'c'])
        records.push(
          eventRecord(uuid, { type: 'info', startedMs: at(turn).startedMs, source: uuid, data: turn }),
        )
    const samples = ['a', 'b', 'c'].map((uuid, index) => sampleRecord({ uuid, id: index }))
    const log = await finished([headerRecord(), ...records, ...samples, footerRecord()])
    for (const { uuid } of samples)
      expect(log.filter((record) => record.type === 'event' && record.uuid === uuid)).toEqual(
        records.filter((record) => record.type === 'event' && record.uuid === uuid),
      )
  })
})
