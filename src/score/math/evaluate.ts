import Fraction from 'fraction.js'
import { add, approximate, divide, exact, factorial, multiply, type Num, numberOf, power } from './number.ts'
import type { Node } from './parse.ts'

const CONSTANTS: Readonly<Record<string, number>> = {
  pi: Math.PI,
  e: Math.E,
  infty: Number.POSITIVE_INFINITY,
}

const FUNCTIONS: Readonly<Record<string, (value: number) => number>> = {
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  cot: (value) => 1 / Math.tan(value),
  sec: (value) => 1 / Math.cos(value),
  csc: (value) => 1 / Math.sin(value),
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  ln: Math.log,
  log: Math.log10,
  exp: Math.exp,
}

const OPERATIONS: Readonly<Record<string, (...operands: Num[]) => Num>> = {
  add: (one, other) => add(one ?? 0, other ?? 0),
  negate: (one) => multiply(new Fraction(-1), one ?? 0),
  multiply: (one, other) => multiply(one ?? 0, other ?? 0),
  divide: (one, other) => divide(one ?? 0, other ?? 0),
  power: (one, other) => power(one ?? 0, other ?? 0),
  root: (one, degree) => root(one ?? 0, degree ?? 2),
  factorial: (one) => factorial(one ?? 0),
  abs: (one) => (one !== undefined && exact(one) ? one.abs() : Math.abs(approximate(one ?? 0))),
  binomial: (one, other) =>
    divide(factorial(one ?? 0), multiply(factorial(other ?? 0), factorial(difference(one, other)))),
}

/** The value of a formula where its variables have these. NaN: it has none, or none that can be told from others. */
export function evaluateFormula(node: Node, values: ReadonlyMap<string, number>): Num {
  if (node.kind === 'number') return numberOf(node.text)
  if (node.kind === 'variable') return CONSTANTS[node.name] ?? values.get(node.name) ?? Number.NaN
  if (node.kind !== 'call') return Number.NaN
  const operands = node.operands.map((operand) => evaluateFormula(operand, values))
  const operation = OPERATIONS[node.name]
  if (operation) return operation(...operands)
  const [first = 0, second] = operands
  if (node.name === 'log' && second !== undefined)
    return Math.log(approximate(second)) / Math.log(approximate(first))
  return FUNCTIONS[node.name]?.(approximate(first)) ?? Number.NaN
}

export function variablesOf(node: Node): string[] {
  if (node.kind === 'variable') return node.name in CONSTANTS ? [] : [node.name]
  if (node.kind === 'call') return node.operands.flatMap(variablesOf)
  return node.kind === 'list' ? node.items.flatMap(variablesOf) : []
}

function root(value: Num, degree: Num): Num {
  const number = approximate(value)
  const isOdd = exact(degree) && degree.d === 1n && degree.n % 2n === 1n
  if (number >= 0 || !isOdd) return power(value, divide(new Fraction(1), degree))
  return multiply(new Fraction(-1), power(multiply(new Fraction(-1), value), divide(new Fraction(1), degree)))
}

function difference(one: Num = 0, other: Num = 0): Num {
  return add(one, multiply(new Fraction(-1), other))
}
