import type { Token } from './tokens.ts'

/** What an answer means. `call`: an operation or function on operands; `list`: what stands between brackets, or commas alone. */
export type Node =
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly operands: readonly Node[] }
  | { readonly kind: 'list'; readonly brackets: string; readonly items: readonly Node[] }
  | { readonly kind: 'text'; readonly text: string }

const MAX_DEPTH = 60
const FUNCTIONS = new Set('sin cos tan cot sec csc asin acos atan sinh cosh tanh ln log exp abs'.split(' '))
const CLOSING: Readonly<Record<string, readonly string[]>> = {
  '(': [')', ']'],
  '[': [']', ')'],
  '\\{': ['\\}'],
  '{': ['}'],
}

class Unreadable extends Error {}

/** undefined for what is no formula. */
export function parseFormula(tokens: readonly Token[]): Node | undefined {
  try {
    return new Parser(tokens).whole()
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

/**
 * Recursive descent over sums, products (also without a sign between factors), powers and what is in brackets. The depth is bounded, and so
 * is the number of tokens.
 */
class Parser {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0
  /** Where the first digit of a number that stands for two arguments was taken. */
  #half = -1

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  whole(): Node {
    const parts = [this.#items()]
    while (this.#take('cup')) parts.push(this.#items())
    if (this.#at < this.#tokens.length) throw new Unreadable()
    const lists = parts.map((items) => listOf('', items))
    const [first] = lists
    return lists.length === 1 && first ? first : { kind: 'list', brackets: 'cup', items: lists }
  }

  #items(): Node[] {
    const items = [this.#sum()]
    while (this.#take(',') || this.#take(';') || this.#take('and') || this.#take('or'))
      items.push(this.#sum())
    return items
  }

  #sum(): Node {
    this.#enter()
    let left = this.#signed()
    for (;;) {
      if (this.#take('+')) left = call('add', left, this.#product())
      else if (this.#take('-')) left = call('add', left, call('negate', this.#product()))
      else if (this.#take('pm')) left = bothSigns(left, this.#product())
      else break
    }
    this.#depth--
    return left
  }

  #signed(): Node {
    if (this.#take('pm')) return bothSigns({ kind: 'number', text: '0' }, this.#product())
    return this.#product()
  }

  #product(): Node {
    let left = this.#unary()
    for (;;) {
      const mixed = this.#mixed(left)
      if (mixed) left = mixed
      else if (this.#take('cdot') || this.#take('*')) left = call('multiply', left, this.#unary())
      else if (this.#take('/')) left = call('divide', left, this.#unary())
      else if (this.#startsFactor()) left = call('multiply', left, this.#power())
      else return left
    }
  }

  /** `1\frac{1}{2}` and `1 1/2`: a whole number and a fraction of whole numbers are a sum. */
  #mixed(left: Node): Node | undefined {
    if (left.kind !== 'number' || !/^\d+$/u.test(left.text)) return undefined
    if (this.#tokens[this.#at - 1]?.kind !== 'number') return undefined
    const [one, slash, other] = this.#tokens.slice(this.#at, this.#at + 3)
    if (one?.kind === 'number' && slash?.text === '/' && other?.kind === 'number') {
      this.#at += 3
      return call('add', left, call('divide', numberNode(one), numberNode(other)))
    }
    if (!this.#isNext('frac')) return undefined
    const start = this.#at
    const fraction = this.#primary()
    const isPlain = fraction.kind === 'call' && fraction.operands.every(({ kind }) => kind === 'number')
    if (isPlain) return call('add', left, fraction)
    this.#at = start
    return undefined
  }

  #unary(): Node {
    this.#enter()
    const node = this.#take('-')
      ? call('negate', this.#unary())
      : this.#take('+')
        ? this.#unary()
        : this.#power()
    this.#depth--
    return node
  }

  #power(): Node {
    let base = this.#primary()
    for (;;) {
      if (this.#take('!')) base = call('factorial', base)
      else if (this.#take('%')) base = call('divide', base, { kind: 'number', text: '100' })
      else if (this.#take('^')) return call('power', base, this.#unary())
      else if (this.#take('_')) base = subscripted(base, this.#primary())
      else return base
    }
  }

  #primary(): Node {
    const token = this.#tokens[this.#at++]
    if (!token) throw new Unreadable()
    if (token.kind === 'number') return numberNode(token)
    if (token.kind === 'text') return { kind: 'text', text: token.text }
    if (token.kind === 'name') return this.#named(token.text)
    if (token.text === '|') return call('abs', this.#until('|'))
    return this.#bracketed(token.text)
  }

  #named(name: string): Node {
    if (name === 'frac') return call('divide', this.#argument(), this.#argument())
    if (name === 'binom') return call('binomial', this.#argument(), this.#argument())
    if (name === 'sqrt') return this.#root()
    if (!FUNCTIONS.has(name)) return { kind: 'variable', name }
    if (name === 'log' && this.#take('_')) return call('log', this.#argument(), this.#power())
    if (this.#take('^')) {
      const exponent = this.#argument()
      return call('power', call(name, this.#power()), exponent)
    }
    return call(name, this.#power())
  }

  #root(): Node {
    if (!this.#take('[')) return call('root', this.#argument(), { kind: 'number', text: '2' })
    const degree = this.#until(']')
    return call('root', this.#argument(), degree)
  }

  /** `\frac12` takes a digit each. */
  #argument(): Node {
    const next = this.#tokens[this.#at]
    if (next?.kind === 'number' && /^\d{2}$/u.test(next.text)) return this.#digit(next.text)
    return this.#primary()
  }

  #digit(text: string): Node {
    const isFirst = this.#half !== this.#at
    if (isFirst) this.#half = this.#at
    else this.#at++
    return { kind: 'number', text: text[isFirst ? 0 : 1] ?? '' }
  }

  #bracketed(open: string): Node {
    const closing = CLOSING[open]
    if (!closing) throw new Unreadable()
    this.#enter()
    if (closing.some((sign) => this.#take(sign))) {
      this.#depth--
      return { kind: 'list', brackets: open, items: [] }
    }
    const items = this.#items()
    const close = closing.find((sign) => this.#take(sign))
    if (close === undefined) throw new Unreadable()
    this.#depth--
    if (items.length === 1 && open !== '\\{') return items[0] ?? numberNode({ text: '0' })
    return { kind: 'list', brackets: open === '{' ? '\\{\\}' : open + close, items }
  }

  #until(close: string): Node {
    const node = this.#sum()
    if (!this.#take(close)) throw new Unreadable()
    return node
  }

  #startsFactor(): boolean {
    const next = this.#tokens[this.#at]
    if (!next) return false
    if (next.kind === 'sign') return next.text in CLOSING && next.text !== '['
    return next.kind === 'name' && !['cup', 'cdot', 'pm', 'in', 'approx'].includes(next.text)
  }

  #isNext(text: string): boolean {
    return this.#tokens[this.#at]?.text === text
  }

  #take(text: string): boolean {
    if (!this.#isNext(text)) return false
    this.#at++
    return true
  }

  #enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new Unreadable()
  }
}

function numberNode({ text }: Pick<Token, 'text'>): Node {
  return { kind: 'number', text }
}

function call(name: string, ...operands: Node[]): Node {
  return { kind: 'call', name, operands }
}

function bothSigns(left: Node, right: Node): Node {
  return {
    kind: 'list',
    brackets: '',
    items: [call('add', left, right), call('add', left, call('negate', right))],
  }
}

function listOf(brackets: string, items: readonly Node[]): Node {
  const [only] = items
  return items.length === 1 && only ? only : { kind: 'list', brackets, items }
}

/** `x_1` is a variable of its own; `10_8` a text, as its base says more than its digits. */
function subscripted(base: Node, index: Node): Node {
  const below =
    index.kind === 'number' || index.kind === 'text'
      ? index.text
      : index.kind === 'variable'
        ? index.name
        : ''
  if (base.kind === 'variable') return { kind: 'variable', name: `${base.name}_${below}` }
  if (base.kind === 'number') return { kind: 'text', text: `${base.text}_${below}` }
  throw new Unreadable()
}
