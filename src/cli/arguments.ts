import { InvalidArgumentError } from 'commander'
import { parse } from 'yaml'
import { ConfigError } from '../errors.ts'
import type { FailOnError } from '../run/error-policy.ts'

export function positiveInteger(text: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= 1) return number
  throw new InvalidArgumentError('expected a whole number of at least 1.')
}

export function wholeNumber(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new InvalidArgumentError('expected a whole number.')
}

/** `n`, or `a,b`: the samples at positions from a up to b, counted from 0. */
export function sampleLimit(text: string): number | readonly [number, number] {
  const [, first, second] = /^(\d+)(?:,(\d+))?$/.exec(text) ?? []
  if (first === undefined) throw new InvalidArgumentError("expected a whole number or a range 'a,b'.")
  return second === undefined ? Number(first) : [Number(first), Number(second)]
}

/** `any` or `true`, `never` or `false`, a share such as `0.1`, a count such as `5`. */
export function failOnError(text: string): FailOnError {
  const words: Record<string, boolean> = { any: true, true: true, never: false, false: false }
  if (Object.hasOwn(words, text)) return words[text] ?? true
  const number = Number(text)
  if (text.trim() !== '' && number > 0 && (number < 1 || Number.isInteger(number))) return number
  throw new InvalidArgumentError("expected 'any', 'never', a share below 1 or a count.")
}

/** `key=value`; the value is read as YAML, so `3` is a number and `[a, b]` a list. */
export function yamlArgument(flag: string) {
  return (text: string, earlier: Record<string, unknown> = {}): Record<string, unknown> => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    if (key === undefined || value === undefined) throw new InvalidArgumentError('expected key=value.')
    if (Object.hasOwn(earlier, key)) throw new InvalidArgumentError(`'${key}' was given already.`)
    return { ...earlier, [key]: yamlValue(value, `${flag} ${key}`) }
  }
}

export const taskArgument = yamlArgument('-T')

function yamlValue(value: string, where: string): unknown {
  try {
    return parse(value)
  } catch (error) {
    throw new ConfigError(`not a YAML value: ${value}`, { where, cause: error })
  }
}

export function number(text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value)) return value
  throw new InvalidArgumentError('expected a number.')
}

/** Of an option that may be repeated. */
export function listArgument(text: string, earlier: string[] = []): string[] {
  return [...earlier, text]
}
