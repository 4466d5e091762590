import type { SampleMember } from '../schema/members.ts'

/** The JSON of a sample in pieces: one a message, event or attachment, as all of a large sample in one string is a multiple of its size. */
export function* memberPieces(member: SampleMember): Generator<string> {
  const { messages = [], events = [], attachments = {}, events_data, ...rest } = member
  yield JSON.stringify(rest).slice(0, -1)
  yield ','
  yield* list('messages', messages)
  yield ','
  yield* list('events', events)
  yield ',"attachments":{'
  for (const [index, [hash, text]] of Object.entries(attachments).entries())
    yield `${index === 0 ? '' : ','}${JSON.stringify(hash)}:${JSON.stringify(text)}`
  yield '}'
  if (events_data) {
    yield ',"events_data":{'
    yield* list('messages', events_data.messages)
    yield ','
    yield* list('calls', events_data.calls)
    yield '}'
  }
  yield '}'
}

function* list(name: string, items: readonly unknown[]): Generator<string> {
  yield `"${name}":[`
  for (const [index, item] of items.entries()) yield `${index === 0 ? '' : ','}${JSON.stringify(item)}`
  yield ']'
}
