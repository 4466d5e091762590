import { ConfigError } from '../../errors.ts'
import type { Scorer } from '../scorer.ts'
import { textScorer } from '../text-scorer.ts'
import { sameAnswer } from './compare.ts'
import { finalAnswer } from './final-answer.ts'

export interface MathOptions {
  /** How far a number may be from the target's, as a share of it (default 0: exact, but for rounding where it is irrational). */
  readonly tolerance?: number
  /** What of the output is judged (default: its last `\boxed`, line `ANSWER:` or formula, else of prose its last number). */
  readonly answer?: (output: string) => string
}

/**
 * Whether the final answer means the same as a target: numbers, fractions, percentages, LaTeX, formulas with variables, tuples, intervals,
 * sets and lists. Rational numbers are compared exactly, at any size up to 300 digits.
 * @throws ConfigError for a tolerance that is none
 */
export function math(options: MathOptions = {}): Scorer {
  const { tolerance: relative = 0, answer: find = finalAnswer } = options
  if (!(relative >= 0 && relative < 1))
    throw new ConfigError(`expected a tolerance from 0 to below 1, got ${relative}`, { where: 'scorer math' })
  return textScorer('math', (output, targets) => {
    const answer = find(output).trim()
    return { correct: targets.some((target) => sameAnswer(answer, unboxed(target), { relative })), answer }
  })
}

/** A target may be a whole solution that ends with its answer. */
function unboxed(target: string): string {
  return target.includes('\\boxed') ? finalAnswer(target) : target
}
