import { ConfigError, errorMessage } from '../errors.ts'
import type { Scorer } from './scorer.ts'
import { comparable, textScorer } from './text-scorer.ts'

export interface PatternOptions {
  /** The group that holds the answer, by number or name; default: the first group, else the whole match. */
  readonly group?: number | string
  /** Of a pattern given as text, and of the comparison with the target (default true). */
  readonly ignoreCase?: boolean
}

/**
 * Whether what the pattern finds first in the output is a target, but for white space around either.
 * @throws ConfigError when the pattern cannot be read or has no such group
 */
export function pattern(regex: RegExp | string, options: PatternOptions = {}): Scorer {
  const { ignoreCase = true } = options
  const expression = statelessExpression(regex, ignoreCase)
  const group = options.group ?? (hasGroup(expression, 1) ? 1 : 0)
  if (!hasGroup(expression, group)) {
    throw new ConfigError(`${expression} has no group '${group}'`, { where: 'scorer pattern' })
  }
  return textScorer('pattern', (output, targets) => {
    const found = expression.exec(output)
    if (found === null) return { correct: false, explanation: `${expression} found nothing in the output` }
    const answer = (typeof group === 'number' ? found[group] : found.groups?.[group]) ?? ''
    const text = comparable(answer, ignoreCase)
    return { correct: targets.some((target) => comparable(target, ignoreCase) === text), answer }
  })
}

/** Without the flags that make a search start where the last one ended. */
function statelessExpression(regex: RegExp | string, ignoreCase: boolean): RegExp {
  if (typeof regex !== 'string') return new RegExp(regex.source, regex.flags.replace(/[gy]/g, ''))
  try {
    return new RegExp(regex, ignoreCase ? 'i' : '')
  } catch (cause) {
    throw new ConfigError(errorMessage(cause), { where: 'scorer pattern', cause })
  }
}

/** With an empty alternative every expression matches the empty text, and shows what groups it has. */
function hasGroup(expression: RegExp, group: number | string): boolean {
  const found = new RegExp(`${expression.source}|`, expression.flags).exec('')
  if (typeof group === 'number') return Number.isInteger(group) && group >= 0 && group < (found?.length ?? 0)
  return Object.hasOwn(found?.groups ?? {}, group)
}
