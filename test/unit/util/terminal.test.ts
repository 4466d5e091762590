import { describe, expect, it } from 'vitest'
import { escapeLine, escapeText, table } from '../../../src/util/terminal.ts'

describe('text from a sandbox', () => {
  it.each([
    ['a colour', '\u001b[31mred', '\\u001b[31mred'],
    ['a title that runs in the terminal', '\u001b]0;x\u0007', '\\u001b]0;x\\u0007'],
    ['an 8-bit control sequence', '\u009b2J', '\\u009b2J'],
    ['a return that hides what came before', 'fail\rpass', 'fail\\u000dpass'],
    ['backspaces', 'a\bb', 'a\\u0008b'],
    ['a null and a delete', '\u0000\u007f', '\\u0000\\u007f'],
    [
      'characters that turn the direction',
      'a\u202eb\u2066c\u200fd\u061ce',
      'a\\u202eb\\u2066c\\u200fd\\u061ce',
    ],
    ['line separators', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ])('has %s made visible', (_what, text, shown) => {
    expect(escapeText(text)).toBe(shown)
  })

  it.each(['plain', 'tab\tand\nline', 'Grüße, 你好, 👩‍🔬', 'a\\u001b that was text'])(
    'stays as it is: %j',
    (text) => {
      expect(escapeText(text)).toBe(text)
    },
  )

  it('is put on one line and cut where it is too long', () => {
    expect(escapeLine('a\n\n\tb\u001b')).toBe('a b\\u001b')
    expect(escapeLine('x'.repeat(300))).toHaveLength(200)
    expect(escapeLine('abcdef', 4)).toBe('abc…')
    expect(escapeLine('abcd', 4)).toBe('abcd')
  })
})

describe('a table', () => {
  it('has aligned columns under its heading, and no blanks at the end of lines', () => {
    const text = table([
      ['sample', 'status'],
      ['a long one', 'ok'],
      ['b', 'error'],
    ])
    expect(text.split('\n')).toEqual([
      'sample      status',
      '----------  ------',
      'a long one  ok',
      'b           error',
    ])
  })

  it('takes rows of different lengths', () => {
    expect(table([['a'], ['b', 'c']]).split('\n')).toEqual(['a', '-  -', 'b  c'])
  })
})
