import { numbersIn } from '../numbers.ts'

const LONGEST_LINE = 2000

/**
 * What a text gives as its answer: the content of its last `\boxed`, else what follows its last `ANSWER:` or `answer is`, else its last
 * formula between dollars or `\(` `\)`, else the whole of a short text, else its last number.
 */
export function finalAnswer(output: string): string {
  const text = output.trim()
  return (
    lastBoxed(text) ??
    lastMatch(text, /\banswer\s*:[^\S\n]*([^\n]+)/giu) ??
    lastMatch(text, /\banswer\s+is\s*:?[^\S\n]*([^\n]+)/giu) ??
    lastMatch(text, /\$\$?([^$\n]+)\$\$?|\\\(([^\n]+?)\\\)/gu) ??
    (text.includes('\n') || text.length > 100 ? numbersIn(text).at(-1) : undefined) ??
    text
  )
}

/** The content of the last `\boxed{...}` or `\fbox{...}` whose brace is closed; inner ones are unwrapped. */
function lastBoxed(text: string): string | undefined {
  for (const { 0: head, index } of [...text.matchAll(/\\(?:boxed|fbox)\s*\{/gu)].reverse().slice(0, 20)) {
    const start = index + head.length
    const end = closingBrace(text, start)
    if (end !== undefined) return lastBoxed(text.slice(start, end)) ?? text.slice(start, end)
  }
  return undefined
}

function closingBrace(text: string, start: number): number | undefined {
  let depth = 1
  const limit = Math.min(text.length, start + LONGEST_LINE)
  for (let at = start; at < limit; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return at
  }
  return undefined
}

function lastMatch(text: string, pattern: RegExp): string | undefined {
  const found = [...text.matchAll(pattern)].at(-1)
  return found?.slice(1).find((group) => group !== undefined)
}
