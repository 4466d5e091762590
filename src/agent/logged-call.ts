import type { RawCall } from './model.ts'
import type { PlacedList } from './placed-list.ts'
import type { LoggedCall } from './transcript.ts'

/** What the APIs call the conversation in a request: OpenAI chat and Anthropic, OpenAI responses, Google. */
const KEYS = ['messages', 'input', 'contents'] as const

/** A raw call without what earlier requests of the sample had said already. */
export function loggedCall({ request, response }: RawCall, items: PlacedList<object>): LoggedCall {
  const body = parsed(request)
  const key = KEYS.find((name) => isList(body[name]))
  if (key === undefined) return { request: body, response }
  const { [key]: said, ...rest } = body
  const { added, from, refs } = items.place(said as object[])
  return { request: rest, response, key, items: added, itemsFrom: from, itemsRefs: refs }
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)
}

function parsed(request: unknown): Readonly<Record<string, unknown>> {
  const value = typeof request === 'string' ? parsedText(request) : request
  return typeof value === 'object' && value !== null ? { ...value } : { body: value }
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
