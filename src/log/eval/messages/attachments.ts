import { createHash } from 'node:crypto'

const PROTOCOL = 'attachment://'
/** Longer strings of events are kept once and referred to. */
const MAX_INLINE = 100

/**
 * Long strings of one sample, each kept once. Inspect resolves references only in inputs, messages, answers of models, arguments of tools and
 * data of infos (inspect_ai/log/_condense.py, 0.3.285). It names them by MurmurHash3, but only ever looks names up: part of a SHA-256 serves.
 */
export class Attachments {
  readonly texts: Record<string, string> = {}

  /** The value with its long strings replaced by references. */
  detach<T>(value: T): T {
    return mapped(value, (text) => this.#reference(text)) as T
  }

  #reference(text: string): string {
    if (text.length <= MAX_INLINE) return text
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 32)
    this.texts[hash] = text
    return PROTOCOL + hash
  }
}

/** The value with its references replaced by what they stand for. */
export function attach<T>(value: T, texts: Readonly<Record<string, string>>): T {
  return mapped(value, (text) => {
    if (!text.startsWith(PROTOCOL)) return text
    const hash = text.slice(PROTOCOL.length)
    return Object.hasOwn(texts, hash) ? (texts[hash] ?? text) : text
  }) as T
}

function mapped(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapped(item, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapped(item, map)]))
}
