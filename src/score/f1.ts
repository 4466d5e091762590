import type { Score, Scorer } from './scorer.ts'

export interface F1Options {
  /** What of the output is judged (default: all of it). */
  readonly answer?: (output: string) => string
}

/**
 * How many words output and target share: 2pr / (p + r) with precision p and recall r over words, the best of several targets. Case,
 * punctuation and English articles do not count, as in the SQuAD evaluation (Rajpurkar et al. 2016, arXiv:1606.05250). Without a target
 * a sample is unscored.
 */
export function f1({ answer = (output) => output }: F1Options = {}): Scorer {
  return {
    name: 'f1',
    async score({ sample, state }): Promise<Score | null> {
      const targets = [sample.target ?? []].flat()
      if (targets.length === 0) return null
      const given = answer(state.output)
      const value = Math.max(...targets.map((target) => overlap(wordsOf(given), wordsOf(target))))
      return { value, answer: given }
    },
  }
}

function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\p{P}\p{S}]/gu, '')
  return plain.split(/\s+/u).filter((word) => word !== '' && !['a', 'an', 'the'].includes(word))
}

function overlap(given: readonly string[], wanted: readonly string[]): number {
  if (given.length === 0 || wanted.length === 0) return given.length === wanted.length ? 1 : 0
  const left = new Map<string, number>()
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1)
  let shared = 0
  for (const word of given) {
    const count = left.get(word) ?? 0
    if (count > 0) shared++
    left.set(word, count - 1)
  }
  return (2 * shared) / (given.length + wanted.length)
}
