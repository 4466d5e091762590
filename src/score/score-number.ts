import type { ScoreValue } from './scorer.ts'

const WORDS: Readonly<Record<string, number>> = { c: 1, i: 0, n: 0, p: 0.5, yes: 1, true: 1, no: 0, false: 0 }

/**
 * The number that a score counts in metrics: numbers and booleans as they are, 'C' 1, 'I' and 'N' 0, 'P' 0.5, yes and true 1, no and
 * false 0 (in any case), the text of a number that number. null for what has no number of its own (other text, NaN, lists, records).
 */
export function scoreToNumber(value: ScoreValue): number | null {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'number') return Number.isNaN(value) ? null : value
  if (typeof value !== 'string') return null
  const text = value.trim().toLowerCase()
  const number = Object.hasOwn(WORDS, text) ? WORDS[text] : Number(text || 'NaN')
  return number === undefined || Number.isNaN(number) ? null : number
}
