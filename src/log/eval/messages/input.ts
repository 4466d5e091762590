import type { SampleRecord } from '../../records/records.ts'
import type { SampleMember } from '../schema/members.ts'
import type { Attachments } from './attachments.ts'
import { fromEvalContent, toEvalContent } from './content.ts'

/** Text, or one message of a user with the media in it. */
export function toEvalInput(
  { uuid, input, inputParts }: SampleRecord,
  attachments: Attachments,
): SampleMember['input'] {
  if (!inputParts) return input
  return [{ id: `${uuid}-input`, role: 'user', content: attachments.detach(toEvalContent(inputParts)) }]
}

/** Of an input that is one message of a user. */
export function fromEvalInput(input: SampleMember['input']): SampleRecord['inputParts'] {
  if (typeof input === 'string' || input.length !== 1 || input[0]?.role !== 'user') return undefined
  const content = fromEvalContent(input[0].content)
  return typeof content === 'string' ? undefined : [...content]
}
