import type { Scorer } from './scorer.ts'
import { comparable, textScorer } from './text-scorer.ts'

export type AnswerKind = 'letter' | 'word' | 'line'

const KINDS: Readonly<Record<AnswerKind, RegExp>> = {
  letter: /answer\s*:\s*\(?([a-z])(?![a-z0-9])/giu,
  word: /answer\s*:\s*(\S+)/giu,
  line: /answer\s*:[^\S\n]*([^\n]+)/giu,
}

/** Whether what follows the last `ANSWER:` of the output, a letter, a word or the rest of the line, is a target. */
export function answer(kind: AnswerKind): Scorer {
  return textScorer('answer', (output, targets) => {
    const found = [...output.matchAll(KINDS[kind])].at(-1)?.[1]
    if (found === undefined) return { correct: false, explanation: `no 'ANSWER: ${kind}' in the output` }
    const given = withoutEdges(comparable(found, true))
    return {
      correct: targets.some((target) => withoutEdges(comparable(target, true)) === given),
      answer: found.trim(),
    }
  })
}

/** Words lose the punctuation around them, unless they are nothing else. */
function withoutEdges(text: string): string {
  return text.replace(/^[\s\p{P}]+|[\s\p{P}]+$/gu, '') || text
}
