import type { Score, Scorer } from './scorer.ts'

/** What of an output was judged, and whether it is right. */
export interface Judgement {
  readonly correct: boolean
  readonly answer?: string
  readonly explanation?: string
}

/** A scorer of the agent's output against any of the sample's targets: 'C' or 'I'; a sample without a target is unscored. */
export function textScorer(
  name: string,
  judge: (output: string, targets: readonly string[]) => Judgement,
): Scorer {
  return {
    name,
    async score({ sample, state }): Promise<Score | null> {
      const targets = targetsOf(sample.target)
      if (targets.length === 0) return null
      const { correct, answer = state.output, explanation } = judge(state.output, targets)
      return { value: correct ? 'C' : 'I', answer, explanation }
    },
  }
}

function targetsOf(target: string | readonly string[] | undefined): readonly string[] {
  if (target === undefined) return []
  return typeof target === 'string' ? [target] : target
}

/** Text in the form in which it is compared. */
export function comparable(text: string, ignoreCase: boolean): string {
  const normalized = text.trim().normalize('NFC')
  return ignoreCase ? normalized.toLowerCase() : normalized
}
