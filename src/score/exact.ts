import type { Scorer } from './scorer.ts'
import { comparable, textScorer } from './text-scorer.ts'

export interface ExactOptions {
  /** Default false. */
  readonly ignoreCase?: boolean
}

/** Whether the output is a target, but for white space around either. */
export function exact(options: ExactOptions = {}): Scorer {
  const { ignoreCase = false } = options
  return textScorer('exact', (output, targets) => {
    const text = comparable(output, ignoreCase)
    return { correct: targets.some((target) => comparable(target, ignoreCase) === text) }
  })
}
