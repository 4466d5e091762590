const LONGEST_LINE = 2000
/** More is no formula. */
const LONGEST_FORMULA = 500
const PROSE = /\p{L}{2,}\s+\p{L}{2,}/u
/** A number or fraction of numbers, not within a word, with its sign, currency and percent sign. */
const NUMBER =
  /(?<![\p{L}\p{N}_.,/])[-+\u2212]?\p{Sc}?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?:\s?\/\s?\d+)?\s?%?/gu

/**
 * What a text gives as its answer: the content of its last `\boxed`, else what follows its last `ANSWER:` or `answer is`, else its last
 * formula between dollars or `\(` `\)`, else of prose its last number, else the whole text.
 */
export function finalAnswer(output: string): string {
  const text = output.trim()
  return (
    lastBoxed(text) ??
    lastMatch(text, /\banswer\s*:[^\S\n]*([^\n]+)/giu) ??
    lastMatch(text, /\banswer\s+is\s*:?[^\S\n]*([^\n]+)/giu) ??
    lastMatch(text, /\$\$?([^$\n]+)\$\$?|\\\(([^\n]+?)\\\)/gu) ??
    (isProse(text) ? text.match(NUMBER)?.at(-1) : undefined) ??
    text
  )
}

function isProse(text: string): boolean {
  return text.includes('\n') || text.length > LONGEST_FORMULA || PROSE.test(text)
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
