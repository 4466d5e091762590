import type { Message } from '../../agent/messages.ts'
import type { TranscriptEvent } from '../../agent/transcript.ts'
import type { SampleRecord } from '../../log/records/records.ts'
import { textOf } from '../../sample/content.ts'
import { escapeLine, escapeText } from '../../util/terminal.ts'

const MAX_TEXT = 4000

/** One sample for a person: how it ended, what was said, what happened. */
export function sampleText(record: SampleRecord, events: readonly TranscriptEvent[]): string {
  const { id, epoch, status, error, scores, messages, totalMs } = record
  const scoreLines = Object.entries(scores).map(
    ([name, { value, explanation }]) =>
      `  ${escapeLine(name, 40)}: ${escapeLine(JSON.stringify(value))}${explanation ? ` (${escapeLine(explanation, 400)})` : ''}`,
  )
  const artifactLines = (record.artifacts ?? []).map(
    ({ name, status, files, bytes }) =>
      `  ${escapeLine(name, 200)}: ${status}${files === undefined ? '' : ` (${files} entries, ${bytes} bytes)`}`,
  )
  const sections = [
    `sample ${escapeLine(String(id))}, epoch ${epoch}: ${status} (${(totalMs / 1000).toFixed(1)} s)`,
    section('error', error ? [shortened(`${error.kind}: ${error.message}`)] : []),
    section('scores', scoreLines),
    section('artifacts', artifactLines),
    section('messages', messages.map(messageText)),
    section('events', events.map(eventLine)),
    section('output', record.output === '' ? [] : [shortened(record.output)]),
  ]
  return sections.filter((text) => text !== '').join('\n\n')
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`${title}:`, ...lines].join('\n')
}

function messageText(message: Message): string {
  const calls =
    message.role === 'assistant'
      ? (message.toolCalls ?? []).map(
          ({ name, arguments: args }) =>
            `\n  calls ${escapeLine(name, 60)} ${escapeLine(JSON.stringify(args), 400)}`,
        )
      : []
  const who = message.role === 'tool' ? `tool ${escapeLine(message.toolName, 60)}` : message.role
  return `[${who}] ${shortened(textOf(message.content))}${calls.join('')}`
}

function eventLine(event: TranscriptEvent): string {
  const time = new Date(event.startedMs).toISOString().slice(11, 23)
  return `${time} ${event.type}: ${escapeLine(eventFacts(event), 160)}`
}

function eventFacts(event: TranscriptEvent): string {
  switch (event.type) {
    case 'model-output':
      return event.error ?? `${event.model} (${event.durationMs} ms)`
    case 'tool-call':
      return `${event.call.name} ${JSON.stringify(event.call.arguments)}${event.error ? ` failed: ${event.error.message}` : ''}`
    case 'sandbox-call':
      return `${event.action} ${event.command?.join(' ') ?? event.path ?? ''} (${event.exitCode ?? event.error?.message ?? 'done'}, ${event.durationMs} ms)`
    default:
      return JSON.stringify(event)
  }
}

function shortened(text: string): string {
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters)` : text
  return escapeText(shown)
}
