import type { Message } from '../../agent/messages.ts'
import type { TranscriptEvent } from '../../agent/transcript.ts'
import type { LogRecord, SampleRecord } from '../records/records.ts'
import { toJson } from './jsonl.ts'

/** A sample as its line has it: messages that events of it hold are their places in the list of those. */
export type SampleLine = Omit<SampleRecord, 'messages'> & { readonly messages: readonly (Message | number)[] }

/** What events of a sample told, in the order of the list that they form. */
export function messagesOf(event: TranscriptEvent): readonly Message[] {
  if (event.type !== 'model-output') return []
  return event.output ? [...event.input, event.output.message] : event.input
}

/** Knows of the samples under way which messages their lines hold, so that none is written twice. */
export class ToldMessages {
  /** By sample, by JSON. */
  readonly #places = new Map<string, Map<string, number>>()

  /** The record as its line is to have it. */
  written(record: LogRecord): LogRecord | SampleLine {
    const places = record.type === 'sample' ? this.#places.get(record.uuid) : undefined
    if (record.type !== 'sample' || !places) return record
    return { ...record, messages: record.messages.map((message) => places.get(toJson(message)) ?? message) }
  }

  /** Once the line of a record is made. */
  note(record: LogRecord): void {
    if (record.type === 'sample')
      for (const { uuid } of [...(record.earlier ?? []), record]) this.#places.delete(uuid)
    if (record.type !== 'event') return
    const messages = messagesOf(record.event)
    if (messages.length === 0) return
    const places = this.#places.get(record.uuid) ?? new Map<string, number>()
    this.#places.set(record.uuid, places)
    // A place is taken even by what was said before, as readers count all of them.
    const from = places.get(COUNT) ?? 0
    places.set(COUNT, from + messages.length)
    for (const [index, message] of messages.entries()) places.set(toJson(message), from + index)
  }
}

/** No JSON of a message. */
const COUNT = ''

const LOST: Message = { role: 'user', content: '(the line that held this message is damaged)' }

/** What a line of a sample says, with the messages for which places stand. */
export function withMessages(line: unknown, told: readonly Message[]): unknown {
  const { messages } = line as { messages?: unknown }
  if (!Array.isArray(messages) || !messages.some((message) => typeof message === 'number')) return line
  const whole = messages.map((message) => (typeof message === 'number' ? (told[message] ?? LOST) : message))
  return { ...(line as object), messages: whole }
}
