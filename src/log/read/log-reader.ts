import type { TranscriptEvent } from '../../agent/transcript.ts'
import { ConfigError } from '../../errors.ts'
import { EvalFile, type SampleWithEvents } from '../eval/file/eval-file.ts'
import { readJournal } from '../journal/read-journal.ts'
import { isFinishedPath, recordsPathOf } from '../log-paths.ts'
import type { FooterRecord, HeaderRecord, LogRecord, SampleRecord } from '../records/records.ts'

/** Streams the records of a log: of a journal as they were written; of a finished log header, configurations and notes, samples, footer. @throws ConfigError */
export async function* readLog(path: string): AsyncGenerator<LogRecord> {
  const found = recordsPathOf(path)
  if (!isFinishedPath(found)) return yield* readJournal(found)
  await using file = await EvalFile.open(found)
  yield await file.header()
  yield* await file.others()
  for (const name of file.sampleMembers) {
    const { record, events } = await file.sampleOf(name)
    for (const event of events) yield { type: 'event', uuid: record.uuid, event }
    yield record
  }
  const footer = await file.footer()
  if (footer) yield footer
}

/** What the head of a log and lists of its samples show. */
export interface LogOverview {
  readonly header: HeaderRecord
  /** undefined: the log has no end. */
  readonly footer?: FooterRecord
  /** Without what is long: messages, output, metadata of more than a line. */
  readonly samples: readonly SampleRecord[]
  /** Configurations and notes. */
  readonly others: readonly LogRecord[]
}

/** Reads no more of a finished log than its header and summaries. @throws ConfigError */
export async function readOverview(path: string): Promise<LogOverview> {
  const found = recordsPathOf(path)
  if (!isFinishedPath(found)) return overviewOfJournal(found)
  await using file = await EvalFile.open(found)
  return {
    header: await file.header(),
    footer: await file.footer(),
    samples: await file.summaries(),
    others: await file.others(),
  }
}

async function overviewOfJournal(path: string): Promise<LogOverview> {
  let header: HeaderRecord | undefined
  let footer: FooterRecord | undefined
  const samples = new Map<string, SampleRecord>()
  const others: LogRecord[] = []
  for await (const record of readJournal(path)) {
    if (record.type === 'header') header = record
    else if (record.type === 'footer') footer = record
    else if (record.type === 'sample')
      samples.set(`${record.epoch} ${record.id}`, { ...record, messages: [], output: '' })
    else if (record.type === 'note' || record.type === 'config') others.push(record)
  }
  if (!header) throw new ConfigError('the log has no header', { where: path })
  return { header, footer, samples: [...samples.values()], others }
}

/** One sample with what happened in it. @throws ConfigError when the log does not have it */
export async function readSample(
  path: string,
  { id, epoch }: { id: string; epoch: number },
): Promise<SampleWithEvents> {
  const found = recordsPathOf(path)
  if (isFinishedPath(found)) {
    await using file = await EvalFile.open(found)
    return await file.sample(id, epoch)
  }
  const events = new Map<string, TranscriptEvent[]>()
  let sample: SampleRecord | undefined
  for await (const record of readJournal(found)) {
    if (record.type === 'event') events.set(record.uuid, [...(events.get(record.uuid) ?? []), record.event])
    if (record.type !== 'sample') continue
    if (String(record.id) === id && record.epoch === epoch) sample = record
    else events.delete(record.uuid)
  }
  if (!sample) throw new ConfigError(`no sample '${id}' of epoch ${epoch} has ended`, { where: path })
  return { record: sample, events: events.get(sample.uuid) ?? [] }
}
