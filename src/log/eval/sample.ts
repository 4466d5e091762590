import { isDeepStrictEqual } from 'node:util'
import type { TranscriptEvent } from '../../agent/transcript.ts'
import type { SampleRecord } from '../records/records.ts'
import { CANCELLED_ERROR, toEvalError } from './errors.ts'
import { fromEvalEvent, orderOf } from './events/event-unmap.ts'
import { EvalTranscript } from './events/transcript.ts'
import { toEvalId } from './ids.ts'
import { fromLimit, toLimit } from './limits.ts'
import { Attachments, attach } from './messages/attachments.ts'
import { fromEvalInput, toEvalInput } from './messages/input.ts'
import { MessagePool } from './messages/message-pool.ts'
import { fromChatMessage, plainText } from './messages/messages.ts'
import type { SampleMember, SummaryEntry } from './schema/members.ts'
import type { EvalModelOutput } from './schema/values.ts'
import { fromUsage, toUsage } from './usage.ts'

/** A sample with its events in Inspect's form. What that form has no place for is under `belljar`. */
export function toSampleMember(record: SampleRecord, events: readonly TranscriptEvent[]): SampleMember {
  const { metadata, files, setup, choices, messages, scores } = record
  const attachments = new Attachments()
  const pool = new MessagePool(record.uuid, attachments)
  const evalEvents = new EvalTranscript(record).build(events, { attachments, pool })
  return {
    ...commonFields(record),
    input: toEvalInput(record, attachments),
    choices,
    sandbox: record.sandbox && [record.sandbox.kind, record.sandbox.key],
    files,
    setup,
    messages: pool.final(messages),
    output: finalOutput(record),
    scores: toScores(scores),
    metadata,
    store: {},
    events: evalEvents,
    error: record.error ? toEvalError(record.error) : cancelledError(record),
    error_retries: record.earlier?.map(({ error }) => toEvalError(error)),
    limit: record.limit && toLimit(record.limit),
    attachments: attachments.texts,
    events_data: { messages: pool.messages, calls: pool.calls },
    belljar: { ...ownFields(record), error: record.error },
  }
}

/** What the sample and its summary have in common. */
export function commonFields(record: SampleRecord) {
  return {
    id: toEvalId(record.id),
    epoch: record.epoch,
    target: record.target ?? '',
    model_usage: toUsages(record.usage),
    role_usage: toUsages(record.roleUsage),
    started_at: record.startedAt,
    completed_at: record.completedAt,
    total_time: record.totalMs / 1000,
    working_time: record.workingMs / 1000,
    uuid: record.uuid,
  }
}

/** What Inspect's form of a sample and of its summary has no place for. */
export function ownFields(record: SampleRecord): Partial<SampleRecord> & { hasTarget?: false } {
  const { type, id, epoch, uuid, input, inputParts, target, choices, metadata, files, setup, ...more } =
    record
  const { messages, output, scores, error, startedAt, completedAt, totalMs, workingMs, ...rest } = more
  const { usage, roleUsage, ...own } = rest
  const given = { usage, ...(roleUsage && { roleUsage }) }
  const isLossless = isDeepStrictEqual(given, usages(commonFields(record)))
  return {
    ...own,
    ...(isLossless ? {} : given),
    ...(target === undefined ? { hasTarget: false } : {}),
  }
}

export function toScores(scores: SampleRecord['scores']): SampleMember['scores'] {
  return Object.fromEntries(Object.entries(scores).map(([name, score]) => [name, { ...score }])) as never
}

function cancelledError({ status }: SampleRecord) {
  return status === 'cancelled' ? CANCELLED_ERROR : undefined
}

function finalOutput({ uuid, output, messages, usage }: SampleRecord): EvalModelOutput {
  const last = messages.findLast(({ role }) => role === 'assistant')
  const model = (last as { model?: string } | undefined)?.model ?? Object.keys(usage)[0] ?? ''
  const message = { id: `${uuid}-output`, role: 'assistant' as const, content: output }
  return { model, choices: [{ message, stop_reason: 'stop' }], completion: output }
}

/** The record behind a sample of a log; of one that Inspect wrote, what it says in our terms. */
export function fromSampleMember(member: SampleMember): SampleRecord {
  const { messages = [], choices, files, setup } = member
  const input = attach(member.input, member.attachments ?? {})
  const inputParts = fromEvalInput(input)
  return {
    ...fromSummary({ ...member, input }),
    ...(inputParts ? { inputParts } : {}),
    choices: choices ?? undefined,
    files: files ?? undefined,
    setup: setup ?? undefined,
    messages: messages.map(fromChatMessage),
    output: plainText(member.output?.choices?.[0]?.message.content ?? member.output?.completion ?? ''),
  }
}

export function eventsOf({ events = [], attachments = {}, events_data }: SampleMember): TranscriptEvent[] {
  const pools = {
    messages: attach(events_data?.messages ?? [], attachments),
    calls: attach(events_data?.calls ?? [], attachments),
  }
  const ordered = events.map((event) => ({ event, order: orderOf(event) ?? Number.POSITIVE_INFINITY }))
  ordered.sort((one, other) => (one.order < other.order ? -1 : one.order > other.order ? 1 : 0))
  return ordered.flatMap(({ event }) => fromEvalEvent(attach(event, attachments), pools) ?? [])
}

/** As much of a record as a summary holds. */
export function fromSummary(entry: SampleMember | SummaryEntry): SampleRecord {
  const { hasTarget, ...ours } = (entry.belljar ?? {}) as ReturnType<typeof ownFields>
  const { error, limit } = entry
  const message = typeof error === 'string' ? error : error?.message
  const theirLimit = typeof limit === 'string' ? { type: limit, limit: 0 } : (limit ?? undefined)
  const isForeign = ours.status === undefined
  return {
    type: 'sample',
    uuid: entry.uuid ?? '',
    id: entry.id,
    epoch: entry.epoch,
    attempt: 1,
    status: message !== undefined ? 'error' : theirLimit ? 'limit' : 'success',
    input:
      typeof entry.input === 'string'
        ? entry.input
        : entry.input.map(({ content }) => plainText(content)).join('\n'),
    metadata: entry.metadata ?? {},
    messages: [],
    output: '',
    scores: (entry.scores ?? {}) as SampleRecord['scores'],
    ...(hasTarget === false ? {} : { target: entry.target }),
    ...timesAndUsage(entry),
    ...(isForeign && message !== undefined ? { error: { kind: 'internal', code: 'error', message } } : {}),
    ...(isForeign && theirLimit ? { limit: fromLimit(theirLimit) } : {}),
    ...ours,
  } as SampleRecord
}

function timesAndUsage(entry: SampleMember | SummaryEntry): Partial<SampleRecord> {
  const startedAt = isoTime(entry.started_at)
  return {
    startedAt,
    completedAt: entry.completed_at ? isoTime(entry.completed_at) : startedAt,
    totalMs: milliseconds(entry.total_time),
    workingMs: milliseconds(entry.working_time),
    phases: [],
    ...usages(entry),
  }
}

function usages({ model_usage, role_usage }: Pick<SampleMember, 'model_usage' | 'role_usage'>) {
  const roleUsage = fromUsages(role_usage)
  return {
    usage: fromUsages(model_usage),
    ...(Object.keys(roleUsage).length > 0 ? { roleUsage } : {}),
  }
}

function toUsages(usage: SampleRecord['usage'] = {}): NonNullable<SampleMember['model_usage']> {
  return Object.fromEntries(Object.entries(usage).map(([name, counts]) => [name, toUsage(counts)]))
}

function fromUsages(usages: SampleMember['model_usage']): SampleRecord['usage'] {
  return Object.fromEntries(
    Object.entries(usages ?? {}).map(([model, usage]) => [model, { ...fromUsage(usage) }]),
  )
}

/** Whole microseconds, as seconds were divided by a thousand. */
function milliseconds(seconds: number | null | undefined): number {
  return Math.round((seconds ?? 0) * 1e6) / 1e3
}

/** As our records write times. */
export function isoTime(text: string | null | undefined): string {
  const ms = Date.parse(text ?? '')
  return new Date(Number.isNaN(ms) ? 0 : ms).toISOString()
}
