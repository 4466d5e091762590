import type { Scorer } from './scorer.ts'
import { comparable, textScorer } from './text-scorer.ts'

export interface IncludesOptions {
  /** Default true. */
  readonly ignoreCase?: boolean
}

/** Whether the output has a target anywhere in it. An empty target is only found in an empty output. */
export function includes(options: IncludesOptions = {}): Scorer {
  const { ignoreCase = true } = options
  return textScorer('includes', (output, targets) => {
    const text = comparable(output, ignoreCase)
    return { correct: targets.some((target) => contains(text, comparable(target, ignoreCase))) }
  })
}

function contains(text: string, target: string): boolean {
  return target === '' ? text === '' : text.includes(target)
}
