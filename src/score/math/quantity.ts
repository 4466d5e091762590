import type { Token } from './tokens.ts'

/** An answer without what only says in what it is counted. */
export interface Quantity {
  readonly tokens: readonly Token[]
  readonly isPercent: boolean
  /** A power of ten that words such as `million` stand for. */
  readonly scale: number
  /** `cm`, `miles per hour`; empty: none. */
  readonly unit: string
}

const SCALES: Readonly<Record<string, number>> = { thousand: 3, million: 6, billion: 9, trillion: 12 }

/** Takes percent signs, words of scale and units off the end; what is nothing but words stays as it is. */
export function quantityOf(given: readonly Token[]): Quantity {
  const tokens = [...given]
  const unit: string[] = []
  let isPercent = false
  let scale = 0
  for (let last = tokens.at(-1); last !== undefined; last = tokens.at(-1)) {
    const words = last.kind === 'text' ? last.text.split(/\s+/u) : []
    if (last.text === '%' || words.includes('percent')) isPercent = true
    else if (words.length === 1 && Object.hasOwn(SCALES, last.text)) scale += SCALES[last.text] ?? 0
    else if (words.length > 0) unit.unshift(last.text)
    else if (isUnitPower(tokens)) {
      unit.unshift(`^${last.text}`)
      tokens.pop()
    } else if (last.text !== '/' || unit.length === 0) break
    tokens.pop()
  }
  if (tokens.length === 0) return { tokens: given, isPercent: false, scale: 0, unit: '' }
  return { tokens, isPercent, scale, unit: unit.join(' ') }
}

/** Whether it ends as `cm^2` does. */
function isUnitPower(tokens: readonly Token[]): boolean {
  const [unit, sign, power] = tokens.slice(-3)
  return unit?.kind === 'text' && sign?.text === '^' && power?.kind === 'number'
}
