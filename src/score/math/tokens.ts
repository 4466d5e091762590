/** A piece of an answer: a number, a name (variable, function or command without its backslash), words, or a sign. */
export interface Token {
  readonly kind: 'number' | 'name' | 'text' | 'sign'
  readonly text: string
}

/** Longer answers are compared as text. */
const LONGEST = 500

const SPACING = /\\(?:left|right|[bB]igg?[lr]?|displaystyle|quad|qquad|limits)(?![a-zA-Z])|\\[,;:! ]|~/gu
const THOUSANDS = String.raw`\d{1,3}(?:(?:,|\{,\})\d{3})+(?!\d)(?:\.\d+)?`
const NUMBER = String.raw`(?:${THOUSANDS}|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3}(?![\d.]))?(?:\\overline\s*\{\d+\})?`
const TOKEN = new RegExp(
  String.raw`\s*(?:(?<number>${NUMBER})|\\(?:text|textbf|textit|mbox|mathrm|mathbf|operatorname)\s*\{(?<text>[^{}]*)\}|(?<command>\\[a-zA-Z]+|\\[{}|])|(?<word>\p{L}+)|(?<sign>.))`,
  'suy',
)

const SYMBOLS: Readonly<Record<string, string>> = {
  '\u2212': '-',
  '×': '\\cdot ',
  '·': '\\cdot ',
  '÷': '/',
  π: '\\pi ',
  '√': '\\sqrt ',
  '∞': '\\infty ',
  '±': '\\pm ',
  '∪': '\\cup ',
  '≈': '\\approx ',
  '∈': '\\in ',
  '²': '^2',
  '³': '^3',
}

const SAME: Readonly<Record<string, string>> = {
  dfrac: 'frac',
  tfrac: 'frac',
  cfrac: 'frac',
  times: 'cdot',
  div: '/',
  lbrace: '{',
  rbrace: '}',
  infinity: 'infty',
  inf: 'infty',
  oo: 'infty',
  arcsin: 'asin',
  arccos: 'acos',
  arctan: 'atan',
}

/** Names that are one even without a backslash. */
const PLAIN_NAMES = new Set(
  'sqrt pi sin cos tan asin acos atan arcsin arccos arctan ln log exp abs infinity inf oo'.split(' '),
)

const UNITS = new Set(
  'mm cm dm km in ft yd mi mg kg lb lbs oz ml sec min hr hrs mph kph am pm rad deg'.split(' '),
)

/** undefined for what is no formula, or too long for one. */
export function tokensOf(answer: string): Token[] | undefined {
  const text = plainFormula(answer)
  if (text.length > LONGEST) return undefined
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const groups = TOKEN.exec(text)?.groups
    if (!groups) return undefined
    tokens.push(...tokensIn(groups))
  }
  return tokens
}

/** The same formula with one way to write what has many. */
export function plainFormula(answer: string): string {
  return answer
    .normalize('NFC')
    .replace(/\\begin\s*\{[a-z]+\}/gu, '((')
    .replace(/\\end\s*\{[a-z]+\}/gu, '))')
    .replace(/\\\\/gu, '),(')
    .replace(/&/gu, ',')
    .replace(/[−×·÷π√∞±∪≈∈²³]/gu, (symbol) => SYMBOLS[symbol] ?? symbol)
    .replace(/\\\$|\$|\\[()]|\\\[|\\\](?![a-z])|£|€/gu, ' ')
    .replace(/\^\s*(?:\{\s*\\circ\s*\}|\\circ)|°/gu, ' ')
    .replace(/\\%/gu, '%')
    .replace(/(?<=\d)\\[,!](?=\d{3}(?!\d))/gu, '')
    .replace(SPACING, ' ')
    .replace(/\*\*/gu, '^')
    .trim()
    .replace(/[.\s]+$/u, '')
}

function tokensIn({ number, text, command, word, sign }: Record<string, string | undefined>): Token[] {
  if (number !== undefined) return [{ kind: 'number', text: number.replace(/,|\{,\}/gu, '') }]
  if (text !== undefined) return textTokens(text.trim())
  if (command !== undefined) {
    const name = command.slice(1)
    const same = Object.hasOwn(SAME, name) ? (SAME[name] ?? name) : name
    if (/^[a-z]/iu.test(same)) return [{ kind: 'name', text: same }]
    return [{ kind: 'sign', text: same === '/' ? '/' : `\\${same}` }]
  }
  if (word !== undefined) return wordTokens(word)
  return sign === undefined || sign.trim() === '' ? [] : [{ kind: 'sign', text: sign }]
}

function textTokens(text: string): Token[] {
  if (text === '') return []
  return [{ kind: text.length === 1 ? 'name' : 'text', text: text.length === 1 ? text : text.toLowerCase() }]
}

/** A word of two or three letters is a product of variables unless it is a unit; a longer one is a word. */
function wordTokens(word: string): Token[] {
  const lower = word.toLowerCase()
  if (PLAIN_NAMES.has(lower)) return [{ kind: 'name', text: SAME[lower] ?? lower }]
  const isWord = UNITS.has(lower) || word.length > 3 || ['and', 'or', 'per'].includes(lower)
  if (isWord) return [{ kind: 'text', text: lower }]
  return [...word].map((letter) => ({ kind: 'name', text: letter }))
}
