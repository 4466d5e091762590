import { ConfigError } from '../errors.ts'
import type { Score, Scorer } from './scorer.ts'

const LETTERS = /^\(?([A-Z])\)?[.)]?$/u

/**
 * Judges a sample with `choices`: right when exactly the letters of the target were chosen, `B` or `['A', 'C']`. They are read after the
 * last `ANSWER:` of the output, else from an output that is nothing but letters. A sample without choices or target is a ConfigError.
 */
export function choice(): Scorer {
  return {
    name: 'choice',
    async score({ sample, state }): Promise<Score | null> {
      const { choices, target } = sample
      if (!choices?.length || target === undefined)
        throw new ConfigError('needs samples with `choices` and `target`', { where: 'scorer choice' })
      const wanted = [target].flat().flatMap((one) => lettersOf(one) ?? [])
      const given = chosen(state.output)?.filter((letter) => isOffered(letter, choices.length))
      const isRight = given !== undefined && given.length > 0 && isSameSet(given, wanted)
      return {
        value: isRight ? 'C' : 'I',
        answer: given?.join(', ') ?? '',
        ...(given === undefined && { explanation: 'no letter of a choice in the output' }),
      }
    },
  }
}

/** How a model is asked: the question, the choices by letter, and the form of the answer. */
export function choicePrompt(
  question: string,
  choices: readonly string[],
  options: { several?: boolean } = {},
): string {
  const listed = choices.map((text, index) => `${letterOf(index)}) ${text}`).join('\n')
  const form = options.several
    ? "Answer with the letters of all that are right. End with a line 'ANSWER: LETTERS', such as 'ANSWER: A, C'."
    : "Answer with the letter of the one that is right. End with a line 'ANSWER: LETTER'."
  return `${question}\n\n${listed}\n\n${form}`
}

function letterOf(index: number): string {
  return String.fromCharCode(65 + index)
}

function isOffered(letter: string, count: number): boolean {
  return letter.charCodeAt(0) - 65 < count
}

function chosen(output: string): string[] | undefined {
  const line = [...output.matchAll(/answer\s*:[^\S\n]*([^\n]+)/giu)].at(-1)?.[1]
  return lettersOf(line ?? output)
}

/** `A`, `a, c`, `A and C`, `(B)`, `AC`; undefined for text of another kind. */
function lettersOf(text: string): string[] | undefined {
  const words = text
    .toUpperCase()
    .replace(/\bAND\b|[,;/&*"'`]/gu, ' ')
    .trim()
    .split(/\s+/u)
  const letters = words.flatMap((word) => {
    const [, letter] = LETTERS.exec(word.replace(/\.$/u, '')) ?? []
    if (letter !== undefined) return [letter]
    return words.length === 1 && /^[A-Z]{1,26}$/u.test(word) && word.length <= 5 ? [...word] : [undefined]
  })
  return letters.every((letter) => letter !== undefined) ? letters : undefined
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).size === new Set(other).size && one.every((letter) => other.includes(letter))
}
