import type { SampleRecord } from '../records/records.ts'
import { commonFields, ownFields, toScores } from './sample.ts'
import type { SummaryEntry } from './schema/members.ts'

const MAX_INPUT = 5120
const MAX_TEXT = 1024
const REMOVED = 'Key removed from summary (> 1k)'

/** What lists show of a sample. Sizes: inspect_ai/log/_log.py. */
export function toSummary(record: SampleRecord): SummaryEntry {
  const { status, attempt, error, limit } = record
  return {
    ...commonFields(record),
    input: shortened(record.input, MAX_INPUT),
    choices: record.choices,
    metadata: thinned(record.metadata),
    scores: toScores(thinScores(record.scores)),
    error: error ? shortened(`${error.kind}: ${error.message}`, MAX_TEXT) : cancelledText(status),
    limit: limit?.type,
    retries: attempt - 1,
    completed: true,
    message_count: record.messages.length,
    belljar: {
      ...ownFields(record),
      earlier: undefined,
      error: error && {
        ...error,
        message: shortened(error.message, MAX_TEXT),
        stack: undefined,
        postMortem: undefined,
      },
    },
  }
}

function cancelledText(status: SampleRecord['status']): string | undefined {
  return status === 'cancelled' ? 'cancelled' : undefined
}

function shortened(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 3)}...` : text
}

function thinned(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => {
      if (typeof value === 'string') return [key, shortened(value, MAX_TEXT)]
      return [key, JSON.stringify(value).length > MAX_TEXT ? REMOVED : value]
    }),
  )
}

export function thinScores(scores: SampleRecord['scores']): SampleRecord['scores'] {
  return Object.fromEntries(
    Object.entries(scores).map(([name, { value, answer, explanation, metadata }]) => [
      name,
      {
        value,
        answer: answer && shortened(answer, MAX_TEXT),
        explanation: explanation && shortened(explanation, MAX_TEXT),
        metadata: metadata && thinned(metadata),
      },
    ]),
  )
}
