import { randomUUID } from 'node:crypto'

/** JSON on one line. Bytes become base64 text; big integers and numbers that are not finite become text, as JSON has none of them. @throws TypeError on a cycle */
export function toJson(value: unknown): string {
  return JSON.stringify(value, plain)
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return value
}

/** Reads JSON in which bare NaN, Infinity and -Infinity may stand, as Python writes them; they become text. @throws SyntaxError */
export function parsePythonJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const repaired = quoteBareNumbers(text)
    if (repaired === text) throw error
    return JSON.parse(repaired)
  }
}

/** As `parsePythonJson`, but they become numbers that are not finite, as which `toMemberJson` writes them. @throws SyntaxError */
export function parsePythonNumbers(text: string): unknown {
  const mark = randomUUID()
  const repaired = quoteBareNumbers(text, mark)
  if (repaired === text) return JSON.parse(text)
  const isMarked = (value: unknown): value is string => typeof value === 'string' && value.startsWith(mark)
  return JSON.parse(repaired, (_key, value: unknown) =>
    isMarked(value) ? Number(value.slice(mark.length)) : value,
  )
}

const BARE = /-?\b(?:NaN|Infinity)\b/g

function quoteBareNumbers(text: string, mark = ''): string {
  const parts: string[] = []
  let from = 0
  while (from < text.length) {
    const start = text.indexOf('"', from)
    const outside = text.slice(from, start === -1 ? text.length : start)
    parts.push(outside.replace(BARE, `"${mark}$&"`))
    if (start === -1) break
    from = endOfString(text, start)
    parts.push(text.slice(start, from))
  }
  return parts.join('')
}

/** Just after the quote that ends the string which starts at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0
  while (text[index - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}
