import { ConfigError } from '../errors.ts'
import { canonicalNumber, numbersIn } from './numbers.ts'
import type { Scorer } from './scorer.ts'
import { comparable, type Judgement, textScorer } from './text-scorer.ts'

export type MatchLocation = 'begin' | 'end' | 'any' | 'exact'

export interface MatchOptions {
  /** Where in the output the target must be (default `end`). */
  readonly location?: MatchLocation
  /** Default true. */
  readonly ignoreCase?: boolean
  /** Compares by value the first, last, any or only number of the output: `$1,000.50` is `1000.5`. Every target must then be a number. */
  readonly numeric?: boolean
}

/**
 * Whether the output begins with, ends with, has in it or is a target, as whole words, but for white space and punctuation around either.
 * With `numeric`, a target that is no number is a ConfigError.
 */
export function match(options: MatchOptions = {}): Scorer {
  const { location = 'end', ignoreCase = true, numeric = false } = options
  return textScorer('match', (output, targets) =>
    numeric
      ? judgeNumbers(output, targets.map(targetNumber), location)
      : { correct: targets.some((target) => matchesText({ output, target, location, ignoreCase })) },
  )
}

interface TextComparison {
  readonly output: string
  readonly target: string
  readonly location: MatchLocation
  readonly ignoreCase: boolean
}

function matchesText({ output, target, location, ignoreCase }: TextComparison): boolean {
  const text = withoutEdges(comparable(output, ignoreCase))
  const wanted = withoutEdges(comparable(target, ignoreCase))
  if (location === 'exact' || wanted === '') return text === wanted
  if (location === 'begin') return text.startsWith(wanted) && isWholeWords(text, wanted, 0)
  if (location === 'end') {
    return text.endsWith(wanted) && isWholeWords(text, wanted, text.length - wanted.length)
  }
  for (let start = text.indexOf(wanted); start >= 0; start = text.indexOf(wanted, start + 1)) {
    if (isWholeWords(text, wanted, start)) return true
  }
  return false
}

/** A text that is all punctuation keeps it. */
function withoutEdges(text: string): string {
  return text.replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, '') || text
}

/** Scripts that separate words by spaces: `4` is not in `14`, nor `art` in `party`. */
const INSIDE_WORD = /^[\p{Nd}\p{M}_\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]{2}$/u

function isWholeWords(text: string, part: string, start: number): boolean {
  const end = start + part.length
  return (
    !INSIDE_WORD.test(text.slice(start - 1, start + 1)) && !INSIDE_WORD.test(text.slice(end - 1, end + 1))
  )
}

function targetNumber(target: string): string {
  const number = canonicalNumber(target)
  if (number !== undefined) return number
  throw new ConfigError(`expected a target that is a number, got '${target}'`, { where: 'scorer match' })
}

function judgeNumbers(output: string, targets: readonly string[], location: MatchLocation): Judgement {
  const numbers = numbersIn(output)
  const candidates = {
    begin: numbers.slice(0, 1),
    end: numbers.slice(-1),
    any: numbers,
    exact: [output],
  }[location]
  const right = candidates.find((candidate) => targets.includes(canonicalNumber(candidate) ?? ''))
  const answer = right ?? candidates[0]
  return { correct: right !== undefined, answer, explanation: answer ?? 'no number in the output' }
}
