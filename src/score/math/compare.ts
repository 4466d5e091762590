import { evaluateFormula, variablesOf } from './evaluate.ts'
import { approximate, exact, type Num } from './number.ts'
import { type Node, parseFormula } from './parse.ts'
import { type Quantity, quantityOf } from './quantity.ts'
import { plainFormula, type Token, tokensOf } from './tokens.ts'

export interface Tolerance {
  /** Share of the target that an answer may be off. */
  readonly relative: number
}

/** Rounding of doubles, where a value is not rational. */
const ROUNDING = 1e-9
const POINTS = 5
/** Longer lists are not compared without regard to their order. */
const MAX_UNORDERED = 50

/** Whether two answers mean the same. What is no formula is compared as text. */
export function sameAnswer(given: string, wanted: string, tolerance: Tolerance): boolean {
  if (plainText(given) === plainText(wanted))
    return plainText(wanted) !== '' || given.trim() === wanted.trim()
  const [one, other] = [meaningOf(given), meaningOf(wanted)]
  if (!one || !other) return false
  const units = [one.quantity.unit, other.quantity.unit]
  if (units[0] !== units[1] && !units.includes('')) return false
  return scalesOf(one.quantity, other.quantity).some(([first, second]) =>
    sameNode(scaled(one.node, first), scaled(other.node, second), tolerance),
  )
}

/** A percentage is a share of one; where only one of two has the sign, it may also be taken as understood. */
function scalesOf(one: Quantity, other: Quantity): [number, number][] {
  const shares: [number, number] = [
    one.scale - (one.isPercent ? 2 : 0),
    other.scale - (other.isPercent ? 2 : 0),
  ]
  return one.isPercent === other.isPercent ? [shares] : [shares, [one.scale, other.scale]]
}

function meaningOf(answer: string): { node: Node; quantity: Quantity } | undefined {
  const tokens = tokensOf(answer)
  if (!tokens) return undefined
  const quantity = quantityOf(answerPart(tokens))
  const node = parseFormula(quantity.tokens)
  return node && { node, quantity }
}

/** `5` of `x = 5`, `f(x) = 5`, `x \in 5` and `5 \approx 4.99`. */
function answerPart(tokens: readonly Token[]): readonly Token[] {
  const approx = tokens.findIndex(({ text }) => text === 'approx')
  const exactPart = approx > 0 ? tokens.slice(0, approx) : tokens
  const sign = exactPart.findLastIndex(({ text }) => text === '=' || text === 'in')
  if (sign < 1) return exactPart
  const left = exactPart.slice(0, sign)
  const isName =
    left[0]?.kind === 'name' && left.every(({ kind, text }) => kind !== 'sign' || '()_{},='.includes(text))
  return isName ? exactPart.slice(sign + 1) : exactPart
}

function scaled(node: Node, scale: number): Node {
  if (scale === 0) return node
  if (node.kind === 'list') return { ...node, items: node.items.map((item) => scaled(item, scale)) }
  return { kind: 'call', name: 'multiply', operands: [node, { kind: 'number', text: `1e${scale}` }] }
}

function sameNode(one: Node, other: Node, tolerance: Tolerance): boolean {
  if (one.kind === 'list' || other.kind === 'list')
    return one.kind === 'list' && other.kind === 'list' && sameList(one, other, tolerance)
  if (one.kind === 'text' || other.kind === 'text')
    return one.kind === 'text' && other.kind === 'text' && one.text === other.text
  const names = [...new Set([...variablesOf(one), ...variablesOf(other)])]
  if (names.length === 0) return sameNumber(valueAt(one, names, 0), valueAt(other, names, 0), tolerance)
  return sameFunction(one, other, { names, tolerance })
}

/** Formulas with variables are the same when they have the same values wherever both have one (Schwartz-Zippel, over fixed points). */
function sameFunction(
  one: Node,
  other: Node,
  { names, tolerance }: { names: readonly string[]; tolerance: Tolerance },
) {
  let compared = 0
  for (let point = 0; point < POINTS * 2 && compared < POINTS; point++) {
    const [first, second] = [valueAt(one, names, point), valueAt(other, names, point)]
    const hasValue = [first, second].map((value) => !Number.isNaN(approximate(value)))
    if (!hasValue[0] && !hasValue[1]) continue
    if (!sameNumber(first, second, tolerance)) return false
    compared++
  }
  return compared >= 3
}

function valueAt(node: Node, names: readonly string[], point: number): Num {
  const values = names.map((name, place) => {
    const seed = [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973, 7)
    return [name, 0.5 + ((seed * 0.754877666 + point * 0.569840291 + place * 0.381966011) % 1) * 2.5] as const
  })
  return evaluateFormula(node, new Map(values))
}

function sameNumber(given: Num, wanted: Num, { relative }: Tolerance): boolean {
  if (exact(given) && exact(wanted) && relative === 0) return given.equals(wanted)
  const [one, other] = [approximate(given), approximate(wanted)]
  if (one === other) return true
  const isRational = exact(given) && exact(wanted)
  const allowed = Math.max(relative, isRational ? 0 : ROUNDING)
  return Math.abs(one - other) <= allowed * Math.max(Math.abs(other), isRational ? 0 : Number.MIN_VALUE)
}

type List = Node & { kind: 'list' }

function sameList(one: List, other: List, tolerance: Tolerance): boolean {
  if (one.brackets !== other.brackets || one.items.length !== other.items.length) return false
  const isOrdered = !['', '\\{\\}', 'cup'].includes(one.brackets)
  if (isOrdered || one.items.length > MAX_UNORDERED)
    return one.items.every((item, index) => {
      const counterpart = other.items[index]
      return counterpart !== undefined && sameNode(item, counterpart, tolerance)
    })
  const left = [...other.items]
  return one.items.every((item) => {
    const found = left.findIndex((candidate) => sameNode(item, candidate, tolerance))
    if (found >= 0) left.splice(found, 1)
    return found >= 0
  })
}

function plainText(answer: string): string {
  return plainFormula(answer)
    .replace(/\\(?:text|textbf|textit|mbox|mathrm|mathbf)\s*\{([^{}]*)\}/gu, '$1')
    .replace(/\\[dtc]frac/gu, '\\frac')
    .replace(/\s+/gu, '')
    .toLowerCase()
}
