import type { TranscriptEvent } from '../../../agent/transcript.ts'
import type { SampleRecord } from '../../records/records.ts'
import { toEvalError } from '../errors.ts'
import { toEvalId } from '../ids.ts'
import { toLimit } from '../limits.ts'
import type { Attachments } from '../messages/attachments.ts'
import { toEvalInput } from '../messages/input.ts'
import type { EvalEvent } from '../schema/events.ts'
import { type EventMapOptions, toEvalEvent } from './event-map.ts'

/** Phases that show as spans, and what Inspect calls their kind. */
const SPAN_TYPES: Readonly<Record<string, string>> = {
  files: 'init',
  setup: 'init',
  agent: 'agent',
  artifacts: 'init',
  tests: 'init',
  score: 'scorers',
}

interface Span {
  readonly id: string
  readonly name: string
  readonly startMs: number
  readonly endMs: number
}

/** The events of one sample as Inspect shows them: its start, a span for each phase with what happened in it, scores, and how it ended. */
export class EvalTranscript {
  readonly #record: SampleRecord
  readonly #startMs: number
  readonly #events: EvalEvent[] = []

  constructor(record: SampleRecord) {
    this.#record = record
    this.#startMs = Date.parse(record.startedAt)
  }

  build(events: readonly TranscriptEvent[], options: EventMapOptions): EvalEvent[] {
    this.#add(this.#startMs, { event: 'sample_init', sample: this.#problem(options.attachments), state: {} })
    // The pool grows in the order in which the calls were recorded, whatever order they are shown in.
    const mapped = events.map((event, order) => ({
      event,
      payload: withPlace(toEvalEvent(event, options), order, event.span),
    }))
    moveToolsForward(mapped)
    const spans = this.#spans()
    const places = placesOf(events, spans)
    for (const { event, payload } of mapped) if (!places.get(event)) this.#add(event.startedMs, payload)
    for (const span of spans) {
      const { id, name, startMs, endMs } = span
      this.#add(startMs, { event: 'span_begin', id, name, type: SPAN_TYPES[name] }, id)
      const inside = mapped.filter(({ event }) => places.get(event) === span)
      for (const { event, payload } of inside)
        this.#add(event.startedMs, inSpan(payload, id), event.span ?? id)
      if (name === 'score') this.#scores(endMs, id)
      this.#add(endMs, { event: 'span_end', id }, id)
    }
    this.#ending()
    return this.#events
  }

  #spans(): Span[] {
    const spans: Span[] = []
    let startMs = this.#startMs
    for (const { name, startedMs = startMs, durationMs } of this.#record.phases) {
      startMs = startedMs
      const endMs = startMs + durationMs
      const id = `${this.#record.uuid}-${name}`
      if (name in SPAN_TYPES) spans.push({ id, name, startMs, endMs })
      startMs = endMs
    }
    return spans
  }

  #problem(attachments: Attachments) {
    const { id, target, choices, metadata, setup } = this.#record
    return {
      id: toEvalId(id),
      input: this.#record.inputParts
        ? toEvalInput(this.#record, attachments)
        : attachments.detach(this.#record.input),
      target: target ?? '',
      choices,
      metadata,
      setup,
    }
  }

  #scores(atMs: number, span: string): void {
    const { scores, target } = this.#record
    for (const [scorer, score] of Object.entries(scores))
      this.#add(
        atMs,
        { event: 'score', score: { ...score } as never, target: target ?? '', intermediate: false, scorer },
        span,
      )
  }

  #ending(): void {
    const { error, limit, completedAt } = this.#record
    const atMs = Date.parse(completedAt)
    const reached = limit && toLimit(limit)
    if (reached) {
      const message = `The ${reached.type} limit of ${reached.limit} was reached.`
      this.#add(atMs, { event: 'sample_limit', ...reached, message })
    }
    if (error) this.#add(atMs, { event: 'error', error: toEvalError(error) })
  }

  #add(atMs: number, payload: Omit<EvalEvent, 'uuid' | 'timestamp'>, span?: string): void {
    this.#events.push({
      uuid: `${this.#record.uuid}-e${this.#events.length}`,
      span_id: span,
      timestamp: new Date(atMs).toISOString(),
      working_start: Math.max(0, (atMs - this.#startMs) / 1000),
      ...payload,
    } as EvalEvent)
  }
}

/** A span of the agent's own that is in no other is in that of the phase. */
function inSpan<T extends object>(payload: T, phase: string): T {
  const isOutermost =
    'event' in payload && payload.event === 'span_begin' && !(payload as { parent_id?: string }).parent_id
  return isOutermost ? { ...payload, parent_id: phase } : payload
}

/**
 * The span of each event: the last that had begun by then. What happened in the millisecond in which one ended and the next began is the
 * agent's where it is of its kind, and where something of the earlier one was recorded after it.
 */
function placesOf(
  events: readonly TranscriptEvent[],
  spans: readonly Span[],
): ReadonlyMap<TranscriptEvent, Span | undefined> {
  const places = new Map<TranscriptEvent, Span | undefined>()
  let later = spans.length - 1
  for (const event of events.toReversed()) {
    const { type, startedMs } = event
    const isAgents = type === 'model-output' || type === 'tool-call'
    let place = spans.findLastIndex(({ name, startMs }) =>
      isAgents && name !== 'agent' ? startedMs > startMs : startedMs >= startMs,
    )
    if (place > later && spans[place]?.startMs === startedMs) place = later
    later = place
    places.set(event, spans[place])
  }
  return places
}

/** Events are shown in another order than that in which they were recorded, which readers of ours get back. */
function withPlace<T extends { metadata?: Record<string, unknown> | null }>(
  payload: T,
  order: number,
  span: string | undefined,
): T {
  const ours = payload.metadata?.belljar as object | undefined
  return { ...payload, metadata: { ...payload.metadata, belljar: { ...ours, order, ...(span && { span }) } } }
}

/** A tool call is recorded when it has ended, and shown before the sandbox calls that it made. */
function moveToolsForward(events: { readonly event: TranscriptEvent }[]): void {
  for (const [index, moved] of events.entries()) {
    if (moved.event.type !== 'tool-call') continue
    let place = index
    const isPart = ({ event }: { event: TranscriptEvent }) =>
      event.type === 'sandbox-call' && event.startedMs >= moved.event.startedMs
    for (let before = events[place - 1]; before && isPart(before); before = events[place - 1]) place--
    if (place < index) events.splice(place, 0, ...events.splice(index, 1))
  }
}
