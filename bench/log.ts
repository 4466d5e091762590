import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TranscriptEvent } from '../src/agent/transcript.ts'
import { convertLog } from '../src/log/convert/convert-log.ts'
import { toJson } from '../src/log/journal/jsonl.ts'
import { readOverview } from '../src/log/read/log-reader.ts'
import type { HeaderRecord, LogRecord, SampleRecord } from '../src/log/records/records.ts'
import { LogWriter } from '../src/log/write/log-writer.ts'
import type { BenchRow } from './table.ts'

interface Case {
  readonly name: string
  readonly samples: number
  /** Of tool output, over all events of a sample. */
  readonly bytes: number
  readonly turns: number
  /** Samples at once. */
  readonly width: number
}

const CASES: readonly Case[] = [
  { name: '10,000 x 2 KB', samples: 10_000, bytes: 800, turns: 1, width: 25 },
  { name: '200 x 5 MB', samples: 200, bytes: 1_700_000, turns: 50, width: 8 },
]

/** Text as build tools and tests print it: lines that differ in names, counts and times. */
function output(bytes: number, seed: number): string {
  const lines: string[] = []
  let state = seed + 1
  for (let length = 0; length < bytes; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const file = `src/module_${(state >>> 4) % 97}/part_${(state >>> 12) % 31}.c`
    const line =
      state % 3 === 0
        ? `[${lines.length % 100}%] Building C object CMakeFiles/main.dir/${file}.o\n`
        : `test ${file}::case_${(state >>> 8) % 500} ... ok (${(state >>> 20) % 1000} ms)\n`
    lines.push(line)
    length += line.length
  }
  return lines.join('')
}

function recordsOf({ bytes, turns }: Case, id: number): LogRecord[] {
  const uuid = `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`
  const now = new Date().toISOString()
  const events: TranscriptEvent[] = []
  const messages: SampleRecord['messages'] = [{ role: 'user', content: `question ${id}` }]
  for (let turn = 0; turn < turns; turn++) {
    const text = output(bytes / turns, id * turns + turn)
    const call = { id: `c${turn}`, name: 'bash', arguments: { command: `make test-${turn}` } }
    const message = {
      role: 'assistant',
      content: 'I run the tests.',
      toolCalls: [call],
      model: 'm/x',
    } as const
    const times = { startedMs: Date.now(), durationMs: 5 }
    events.push(
      {
        type: 'model-output',
        ...times,
        model: 'm/x',
        inputFrom: 2 * turn,
        input: messages.slice(-1),
        inputRefs: [[0, messages.length]],
        output: { message, stopReason: 'tool-calls', usage: { inputTokens: 10, outputTokens: 10 } },
      },
      { type: 'tool-call', ...times, call, result: text },
    )
    messages.push(message, { role: 'tool', content: text, toolCallId: call.id, toolName: 'bash' })
  }
  return [
    { type: 'sample-start', uuid, id, epoch: 1, startedAt: now, input: `question ${id}` },
    ...events.map((event): LogRecord => ({ type: 'event', uuid, event })),
    {
      type: 'sample',
      uuid,
      id,
      epoch: 1,
      attempt: 1,
      status: 'success',
      input: `question ${id}`,
      target: 'x',
      metadata: { id },
      messages,
      output: 'x',
      scores: { exact: { value: 'C', answer: 'x' } },
      startedAt: now,
      completedAt: now,
      totalMs: 5,
      workingMs: 5,
      phases: [{ name: 'agent', durationMs: 5 }],
      usage: { 'm/x': { inputTokens: 10, outputTokens: 10 } },
    },
  ]
}

function header(samples: number): HeaderRecord {
  return {
    type: 'header',
    version: 1,
    belljar: '0',
    run: 'r',
    eval: 'e',
    createdAt: new Date().toISOString(),
    task: { name: 'bench', parameters: {} },
    dataset: { kind: 'fixed', samples, sampleIds: Array.from({ length: samples }, (_, index) => index) },
    scorers: [{ name: 'exact', metrics: ['accuracy'] }],
    epochs: 1,
    config: { maxSamples: 1, maxSandboxes: 1, failOnError: true, limits: {}, sandboxes: [] },
  }
}

/** Runs the work and tells the most memory that the process had meanwhile. */
async function peakOf(work: () => Promise<void>): Promise<number> {
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  await work()
  clearInterval(timer)
  return peak
}

async function measure(given: Case): Promise<BenchRow[]> {
  const directory = await mkdtemp(join(tmpdir(), 'belljar-bench-'))
  try {
    const writer = await LogWriter.open(directory, 'log', { snapshotMs: 1000 })
    let [recordBytes, journalBytes, writeMs, finishMs, cpuMs] = [0, 0, 0, 0, 0]
    await writer.append(header(given.samples))
    const peak = await peakOf(async () => {
      for (let first = 0; first < given.samples; first += given.width) {
        const batch = Array.from({ length: Math.min(given.width, given.samples - first) }, (_, index) =>
          recordsOf(given, first + index),
        )
        recordBytes += batch.flat().reduce((sum, record) => sum + Buffer.byteLength(toJson(record)), 0)
        const startMs = performance.now()
        const cpu = process.cpuUsage()
        await Promise.all(batch.map((records) => appendAll(writer, records)))
        writeMs += performance.now() - startMs
        cpuMs += cpuSince(cpu)
      }
      journalBytes = (await stat(writer.path)).size
      const totals = { total: given.samples, success: given.samples, error: 0, limit: 0, cancelled: 0 }
      await writer.append({
        type: 'footer',
        status: 'success',
        completedAt: new Date().toISOString(),
        totals,
        scores: [],
        sourceEnded: true,
      })
      const startMs = performance.now()
      const cpu = process.cpuUsage()
      await writer.close()
      finishMs = performance.now() - startMs
      cpuMs += cpuSince(cpu)
    })
    const finishedBytes = (await stat(writer.path)).size
    const startMs = performance.now()
    await readOverview(writer.path)
    const showMs = performance.now() - startMs
    let jsonBytes = 0
    for await (const piece of convertLog(writer.path, 'json')) jsonBytes += Buffer.byteLength(piece)
    const row = (metric: string, value: number, unit: string): BenchRow => ({
      bench: 'log',
      case: given.name,
      metric,
      value,
      unit,
    })
    return [
      row('size of a sample', recordBytes / given.samples / 1000, 'kB'),
      row('written, of records', (100 * (journalBytes + finishedBytes)) / recordBytes, '%'),
      row('journal, a sample', writeMs / given.samples, 'ms'),
      row('finish, a sample', finishMs / given.samples, 'ms'),
      row('journal and finish, a sample', (writeMs + finishMs) / given.samples, 'ms'),
      row('processor time of both, a sample', cpuMs / given.samples, 'ms'),
      row('finished log, of its plain JSON', (100 * finishedBytes) / jsonBytes, '%'),
      row('overview for show', showMs, 'ms'),
      row('peak memory', peak / 1e6, 'MB'),
    ]
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** Of all threads; steadier than the clock on a busy machine. */
function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

async function appendAll(writer: LogWriter, records: readonly LogRecord[]): Promise<void> {
  for (const record of records.slice(0, -1)) writer.note(record)
  const last = records.at(-1)
  if (last) await writer.append(last)
}

/** What logs cost: bytes, time and memory. */
export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const given of CASES) rows.push(...(await measure(given)))
  return rows
}
