import type { Message, ToolMessage } from '../../agent/messages.ts'
import type { ModelEvent, ToolEvent, TranscriptEvent } from '../../agent/transcript.ts'
import type { EventRecord, LogRecord, SampleRecord } from '../records/records.ts'
import { toJson } from './jsonl.ts'

/** A message, or its place in the list of those that events of the sample have told before. */
type Told = Message | number

/** An event as its line has it. */
export interface EventLine extends Omit<EventRecord, 'event'> {
  /** Place of its first message in the list. */
  readonly told: number
  readonly event:
    | Exclude<TranscriptEvent, ModelEvent>
    | (Omit<ModelEvent, 'input'> & { readonly input: readonly Told[] })
}

/** A sample as its line has it. */
export type SampleLine = Omit<SampleRecord, 'messages'> & { readonly messages: readonly Told[] }

export interface PreparedLine {
  readonly line: LogRecord | EventLine | SampleLine
  /** To be called once the line is made. */
  readonly made: () => void
}

/** Knows of the samples under way which messages their lines hold, so that none is written twice. */
export class ToldMessages {
  readonly #samples = new Map<string, SampleMessages>()

  /** The record as its line is to have it. */
  prepare(record: LogRecord): PreparedLine {
    if (record.type === 'sample') return this.#sample(record)
    if (
      record.type === 'event' &&
      (record.event.type === 'model-output' || record.event.type === 'tool-call')
    )
      return this.#event(record, record.event)
    return { line: record, made: () => undefined }
  }

  #sample(record: SampleRecord): PreparedLine {
    const messages = this.#samples.get(record.uuid)
    const made = () => {
      for (const { uuid } of [...(record.earlier ?? []), record]) this.#samples.delete(uuid)
    }
    if (!messages) return { line: record, made }
    return { line: { ...record, messages: record.messages.map((message) => messages.shown(message)) }, made }
  }

  #event({ type, uuid }: EventRecord, event: ModelEvent | ToolEvent): PreparedLine {
    const messages = this.#samples.get(uuid) ?? new SampleMessages()
    const told = messages.count
    const isModels = event.type === 'model-output'
    const shown = isModels
      ? { ...event, input: event.input.map((message) => messages.shown(message)) }
      : event
    const made = () => {
      this.#samples.set(uuid, messages)
      for (const message of messagesOf(event)) messages.add(message)
    }
    return { line: { type, uuid, told, event: shown }, made }
  }
}

/** The places of one sample's messages. */
class SampleMessages {
  readonly #places = new Map<string, number>()
  count = 0

  add(message: Message): void {
    this.#places.set(keyOf(message), this.count++)
  }

  shown(message: Message): Told {
    return this.#places.get(keyOf(message)) ?? message
  }
}

/** The same for messages that are the same; for most of them less work than their JSON. */
function keyOf(message: Message): string {
  const { role, content } = message
  if (typeof content !== 'string') return toJson(message)
  if (role === 'user' || role === 'system')
    return Object.keys(message).length === 2 ? `${role} ${content}` : toJson(message)
  const { content: _content, ...rest } = message
  return `${toJson(rest)} ${content}`
}

/** What an event told, in order: what a model heard and answered, or what a tool did. */
export function messagesOf(event: TranscriptEvent): readonly Message[] {
  if (event.type === 'tool-call') return [toolMessage(event)]
  if (event.type !== 'model-output') return []
  return event.output ? [...event.input, event.output.message] : event.input
}

/** As `toolLoop` makes it of a result that is text. */
function toolMessage({ call, result, error }: ToolEvent): ToolMessage {
  const message = { role: 'tool', content: result, toolCallId: call.id, toolName: call.name } as const
  return error ? { ...message, error } : message
}

const LOST: Message = { role: 'user', content: '(the line that held this message is damaged)' }

/** Reads the lines of one sample in order, and puts messages where places stand. */
export class ToldReader {
  readonly #messages: Message[] = []

  /** What the line of an event says, whole. */
  event(line: unknown): unknown {
    const { told = this.#messages.length, event } = line as { told?: number; event?: TranscriptEvent }
    if (event?.type === 'tool-call') this.#messages[told] = toolMessage(event)
    if (event?.type !== 'model-output' || !Array.isArray(event.input)) return line
    const whole = { ...event, input: this.#whole(event.input) }
    for (const [index, message] of messagesOf(whole).entries()) this.#messages[told + index] = message
    return { ...(line as object), event: whole }
  }

  /** What the line of the sample says, whole. */
  sample(line: unknown): unknown {
    const { messages } = line as { messages?: unknown }
    return Array.isArray(messages) ? { ...(line as object), messages: this.#whole(messages) } : line
  }

  #whole(messages: readonly Told[]): Message[] {
    return messages.map((message) =>
      typeof message === 'number' ? (this.#messages[message] ?? LOST) : message,
    )
  }
}
