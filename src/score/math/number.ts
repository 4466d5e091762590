import Fraction from 'fraction.js'

/** Exact where it is rational and not too long, else a double. NaN: not known. */
export type Num = Fraction | number

const MAX_DIGITS = 300
const TOO_LONG = 10n ** BigInt(MAX_DIGITS)
const MAX_FACTORIAL = 170

export function exact(value: Num): value is Fraction {
  return value instanceof Fraction
}

export function approximate(value: Num): number {
  return exact(value) ? value.valueOf() : value
}

/** Decimal text with an exponent and repeating digits. @returns NaN for one that is too long */
export function numberOf(text: string): Num {
  const [, plain = '', exponent, repeating] =
    /^([\d.]+)(?:e([-+]?\d+))?(?:\\overline\s*\{(\d+)\})?$/iu.exec(text) ?? []
  if (plain.length > MAX_DIGITS || Math.abs(Number(exponent ?? 0)) > MAX_DIGITS) return Number.NaN
  const digits = plain.replace(/^\./u, '0.').replace(/\.$/u, '')
  const repeated = repeating === undefined ? '' : `${digits.includes('.') ? '' : '.'}(${repeating})`
  const value = new Fraction(digits + repeated)
  return exponent === undefined ? value : multiply(value, power(new Fraction(10), new Fraction(exponent)))
}

export function add(one: Num, other: Num): Num {
  if (exact(one) && exact(other)) return bounded(one.add(other))
  return known(approximate(one) + approximate(other), [one, other])
}

export function multiply(one: Num, other: Num): Num {
  if (exact(one) && exact(other)) return bounded(one.mul(other))
  return known(approximate(one) * approximate(other), [one, other])
}

export function divide(one: Num, other: Num): Num {
  if (approximate(other) === 0) return Number.NaN
  if (exact(one) && exact(other)) return bounded(one.div(other))
  return known(approximate(one) / approximate(other), [one, other])
}

export function power(base: Num, exponent: Num): Num {
  if (exact(base) && exact(exponent)) {
    const found = exactPower(base, exponent)
    if (found !== undefined) return found
  }
  return known(approximate(base) ** approximate(exponent), [base, exponent])
}

export function factorial(value: Num): Num {
  if (!exact(value) || value.d !== 1n || value.s < 0n || value.n > BigInt(MAX_FACTORIAL)) return Number.NaN
  let product = 1n
  for (let factor = 2n; factor <= value.n; factor++) product *= factor
  return bounded(new Fraction(product))
}

function exactPower(base: Fraction, exponent: Fraction): Fraction | undefined {
  const root = exponent.d === 1n ? base : exactRoot(base, Number(exponent.d))
  if (root === undefined || (root.n === 0n && exponent.s <= 0n)) return undefined
  const times = Number(exponent.n)
  const digits = Math.max(String(root.n).length, String(root.d).length)
  if (root.n !== 0n && !(root.n === 1n && root.d === 1n) && digits * times > MAX_DIGITS * 2) return undefined
  if (root.n <= 1n && root.d === 1n) return times % 2 === 0 ? new Fraction(root.n) : root
  const [numerator, denominator] = [root.n ** BigInt(times), root.d ** BigInt(times)]
  const sign = root.s < 0n && times % 2 === 1 ? -1n : 1n
  const value = new Fraction(sign * numerator, denominator)
  const result = bounded(exponent.s < 0n ? value.inverse() : value)
  return exact(result) ? result : undefined
}

/** undefined where it is not rational. Trying one candidate needs no factors, which hostile numbers make dear. */
function exactRoot(value: Fraction, degree: number): Fraction | undefined {
  if (degree > 64 || (value.s < 0n && degree % 2 === 0)) return undefined
  const [numerator, denominator] = [wholeRoot(value.n, degree), wholeRoot(value.d, degree)]
  if (numerator === undefined || denominator === undefined) return undefined
  return new Fraction(value.s < 0n ? -numerator : numerator, denominator)
}

function wholeRoot(value: bigint, degree: number): bigint | undefined {
  const candidate = Math.round(Number(value) ** (1 / degree))
  if (!Number.isSafeInteger(candidate)) return undefined
  return BigInt(candidate) ** BigInt(degree) === value ? BigInt(candidate) : undefined
}

function bounded(value: Fraction): Num {
  return value.n < TOO_LONG && value.d < TOO_LONG ? value : Number.NaN
}

/** Two values that both grew beyond what a double holds are not equal for that. */
function known(value: number, from: readonly Num[]): number {
  if (Number.isFinite(value)) return value
  return from.some((one) => Math.abs(approximate(one)) === Number.POSITIVE_INFINITY) ? value : Number.NaN
}
