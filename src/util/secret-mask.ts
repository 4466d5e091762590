/** A value that no log, event or label may show; `[secret NAME]` stands in its place. */
export interface SecretValue {
  readonly name: string
  readonly value: string
}

interface Form {
  readonly form: string
  readonly shown: string
}

/** A line of a secret of several lines is one of its own from this length on. */
const SHORTEST_LINE = 16
const MOST_CAUSES = 10
/** Fields whose values are words of ours. */
const WORD_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'status',
  'role',
  'kind',
  'code',
  'reason',
  'level',
])

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** How a value may stand in a text: as it is, in JSON, in JSON that is a string of JSON, in an address. */
function formsOf(value: string): string[] {
  const once = escaped(value)
  return [value, once, escaped(once), ...addressed(value)]
}

function addressed(value: string): string[] {
  try {
    return [encodeURIComponent(value)]
  } catch {
    return [] // half a character
  }
}

function partsOf(value: string): string[] {
  const lines = value.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE)
  return [value, value.trim(), ...(value.includes('\n') ? lines : [])].filter((part) => part !== '')
}

/**
 * Puts the names of secrets in place of their values. Each text is looked at by itself: a value that is cut, split over two
 * texts, or encoded otherwise than as JSON or in an address is not found.
 */
export class SecretMask {
  #forms: readonly Form[] = []
  /** How the forms look in JSON. */
  #traces: readonly string[] = []

  add(secrets: readonly SecretValue[]): void {
    if (secrets.length === 0) return
    const found = new Map(this.#forms.map(({ form, shown }) => [form, shown]))
    for (const { name, value } of secrets)
      for (const form of partsOf(value).flatMap(formsOf))
        if (!found.has(form)) found.set(form, `[secret ${name}]`)
    // The longest first: one secret may be a part of another.
    this.#forms = [...found]
      .map(([form, shown]) => ({ form, shown }))
      .sort((one, other) => other.form.length - one.form.length)
    this.#traces = [...new Set(this.#forms.map(({ form }) => escaped(form)))]
  }

  text(text: string): string {
    let masked = text
    for (const { form, shown } of this.#forms)
      if (masked.includes(form)) masked = masked.replaceAll(form, shown)
    return masked
  }

  /** A JSON document with its texts and names masked; costs a search where there is nothing to mask. */
  json(json: string): string {
    if (!this.#traces.some((trace) => json.includes(trace))) return json
    return JSON.stringify(this.value(JSON.parse(json)))
  }

  /** The same value where nothing is to be masked, else a copy. */
  value<T>(value: T): T {
    return this.#forms.length === 0 ? value : (this.#masked(value, '', []) as T)
  }

  /** Masks what an error and its causes say. */
  error(error: unknown): void {
    let current = error
    for (
      let depth = 0;
      current instanceof Error && depth < MOST_CAUSES;
      depth += 1, current = current.cause
    ) {
      for (const field of ['message', 'stack'] as const) {
        const text = current[field] ?? ''
        const masked = this.text(text)
        if (masked !== text) current[field] = masked
      }
    }
  }

  #masked(value: unknown, field: string, above: readonly object[]): unknown {
    if (typeof value === 'string') return isWord(field, value) ? value : this.text(value)
    if (typeof value !== 'object' || value === null || above.includes(value)) return value
    const inside = [...above, value]
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#masked(item, field, inside))
      return items.some((item, index) => item !== value[index]) ? items : value
    }
    if (!isPlain(value)) return value
    const entries = Object.entries(value)
    const masked = entries.map(([name, item]) => [this.text(name), this.#masked(item, name, inside)] as const)
    const isSame = masked.every(
      ([name, item], index) => name === entries[index]?.[0] && item === entries[index]?.[1],
    )
    return isSame ? value : Object.fromEntries(masked)
  }
}

function isWord(field: string, value: string): boolean {
  return WORD_FIELDS.has(field) && /^[a-z-]+$/.test(value)
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
