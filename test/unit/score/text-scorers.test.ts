import { describe, expect, it } from 'vitest'
import { exact } from '../../../src/score/exact.ts'
import { includes } from '../../../src/score/includes.ts'
import { type MatchLocation, match } from '../../../src/score/match.ts'
import { pattern } from '../../../src/score/pattern.ts'
import type { Scorer } from '../../../src/score/scorer.ts'
import { scorerContext } from '../../support/agent-context.ts'

type Target = string | readonly string[]

async function scored(scorer: Scorer, output: string, target: Target | undefined) {
  return (await scorer.score(scorerContext({ output, sample: { target } })))?.value
}

describe.each([includes(), match(), match({ numeric: true }), exact(), pattern('.')])('$name', (scorer) => {
  it('leaves a sample without a target unscored', async () => {
    expect(await scorer.score(scorerContext({ output: 'x' }))).toBeNull()
    expect(await scored(scorer, 'x', [])).toBeUndefined()
  })
})

describe('includes', () => {
  it.each([
    ['the answer is 42.', '42', 'C'],
    ['PARIS it is', 'paris', 'C'],
    ['rome', 'paris', 'I'],
    ['rome', ['paris', 'rome'], 'C'],
    ['anything', '', 'I'],
    ['  ', '', 'C'],
    ['cafe\u0301', 'caf\u00e9', 'C'],
  ])('judges %j against %j as %s', async (output, target, value) => {
    expect(await scored(includes(), output, target)).toBe(value)
  })

  it('minds the case when told to', async () => {
    expect(await scored(includes({ ignoreCase: false }), 'PARIS', 'Paris')).toBe('I')
  })
})

describe('exact', () => {
  it.each([
    [' 42\n', '42', 'C'],
    ['42.', '42', 'I'],
    ['Paris', 'paris', 'I'],
    ['', '', 'C'],
  ])('judges %j against %j as %s', async (output, target, value) => {
    expect(await scored(exact(), output, target)).toBe(value)
  })
})

describe('match', () => {
  it.each<[MatchLocation, string, Target, string]>([
    ['end', 'The answer is **42**.', '42', 'C'],
    ['end', 'The answer is 142', '42', 'I'],
    ['end', '42 is the answer', '42', 'I'],
    ['end', 'It is Paris!', 'paris', 'C'],
    ['end', '答案是四', '四', 'C'],
    ['begin', '42 it is', '42', 'C'],
    ['begin', '421 it is', '42', 'I'],
    ['any', 'so 142 or 42 or 420', '42', 'C'],
    ['any', 'a party', 'art', 'I'],
    ['any', 'nothing', '', 'I'],
    ['exact', '"Paris."', 'Paris', 'C'],
    ['exact', 'Paris, France', 'Paris', 'I'],
    ['exact', '?', '?', 'C'],
    ['exact', '!', '?', 'I'],
    ['end', 'rome', ['paris', 'Rome'], 'C'],
  ])('at %s judges %j against %j as %s', async (...[location, output, target, value]) => {
    expect(await scored(match({ location }), output, target)).toBe(value)
  })
})

describe('match by number', () => {
  it.each<[MatchLocation, string, string, string]>([
    ['end', 'First 7, then $1,000.50.', '1000.5', 'C'],
    ['end', '42 of 50', '42', 'I'],
    ['begin', '42 of 50', '42', 'C'],
    ['any', 'between 10-20', '20', 'C'],
    ['any', 'between 10-20', '-20', 'I'],
    ['end', 'it is \u221220 degrees', '-20', 'C'],
    ['exact', ' 6.0e2 ', '600', 'C'],
    ['exact', 'about 600', '600', 'I'],
    ['exact', '50%', '50', 'C'],
    ['end', 'version 1.2.3', '3', 'I'],
    ['end', '9007199254740993', '9007199254740992', 'I'],
    ['end', 'no idea', '0', 'I'],
    ['end', '-0', '0', 'C'],
    ['end', '12kg', '12', 'C'],
  ])('at %s judges %j against %j as %s', async (...[location, output, target, value]) => {
    expect(await scored(match({ location, numeric: true }), output, target)).toBe(value)
  })

  it('shows the number that it took for the answer', async () => {
    const context = scorerContext({ output: 'I think 7', sample: { target: '8' } })
    expect(await match({ numeric: true }).score(context)).toMatchObject({ value: 'I', answer: '7' })
  })

  it('refuses a target that is no number', async () => {
    await expect(scored(match({ numeric: true }), '1', 'one')).rejects.toMatchObject({ code: 'config' })
  })
})

describe('pattern', () => {
  it.each([
    [/ANSWER: (\w+)/, {}, 'ANSWER: b then ANSWER: c', 'B', 'C'],
    [/\d+/, {}, 'about 42 or 43', '42', 'C'],
    ['answer: (\\w+)', {}, 'ANSWER: b', 'b', 'C'],
    ['answer: (\\w+)', { ignoreCase: false }, 'ANSWER: b', 'b', 'I'],
    [/(?<unit>\w+)=(?<amount>\d+)/, { group: 'amount' }, 'kg=7', '7', 'C'],
    [/(\w+)=(\d+)/, { group: 2 }, 'kg=7', '7', 'C'],
    [/(\w+)=(\d+)/, { group: 0 }, 'kg=7', 'kg=7', 'C'],
    [/x(y)?/, {}, 'x', 'y', 'I'],
    [/never/, {}, 'x', 'x', 'I'],
  ] as const)('by %s %j judges %j against %j as %s', async (...[regex, options, output, target, value]) => {
    expect(await scored(pattern(regex, options), output, target)).toBe(value)
  })

  it('judges every output from its beginning, whatever the flags', async () => {
    const scorer = pattern(/\d+/g)
    expect(await scored(scorer, 'x 42', '42')).toBe('C')
    expect(await scored(scorer, 'x 42', '42')).toBe('C')
  })

  it.each([
    ['(', {}],
    [/(a)/, { group: 2 }],
    [/(?<a>a)/, { group: 'b' }],
    [/a/, { group: -1 }],
  ] as const)('refuses %s %j before anything runs', (regex, options) => {
    expect(() => pattern(regex, options)).toThrow('scorer pattern')
  })
})
