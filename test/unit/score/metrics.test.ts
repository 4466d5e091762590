import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accuracy, mean, stderr } from '../../../src/score/metrics.ts'
import { reduceEpochs } from '../../../src/score/reduce.ts'
import { scoreToNumber } from '../../../src/score/score-number.ts'
import type { ScoreValue } from '../../../src/score/scorer.ts'
import { uniqueScorerNames } from '../../../src/score/scorer-names.ts'

const scores = fc.array(fc.double({ min: -1000, max: 1000, noNaN: true }), { minLength: 2, maxLength: 50 })

describe('mean and accuracy', () => {
  it.each([
    [[1, 0, 1, 1], 0.75],
    [[0.1, 0.1, 0.1], 0.1],
    [[1e16, 1, -1e16], 1 / 3],
    [[], Number.NaN],
  ])('of %j is %d', (values, expected) => {
    expect(mean().compute(values)).toBe(expected)
    expect(accuracy().compute(values)).toBe(expected)
  })

  it('lies between the smallest and the largest value', () => {
    fc.assert(
      fc.property(scores, (values) => {
        const center = mean().compute(values)
        expect(center).toBeGreaterThanOrEqual(Math.min(...values))
        expect(center).toBeLessThanOrEqual(Math.max(...values))
      }),
    )
  })
})

describe('stderr', () => {
  it.each([
    [[1, 0], 0.5],
    [[1, 0, 1, 0], Math.sqrt(1 / 12)],
    [[2, 2, 2], 0],
    [[1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16], Math.sqrt(30 / 4)],
  ])('of %j is %d', (values, expected) => {
    expect(stderr().compute(values)).toBeCloseTo(expected, 12)
  })

  it.each([[[]], [[1]]])('is not known from %j', (values) => {
    expect(stderr().compute(values)).toBeNaN()
  })

  it('does not change when all values grow by the same', () => {
    const integers = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 2 })
    fc.assert(
      fc.property(integers, fc.integer({ min: -1e9, max: 1e9 }), (values, shift) => {
        const shifted = values.map((value) => value + shift)
        expect(stderr().compute(shifted)).toBeCloseTo(stderr().compute(values), 6)
      }),
    )
  })
})

describe('reduceEpochs', () => {
  it.each([
    [[1, 0], 0.5],
    [[1, null], 1],
    [[Number.NaN, 0.25], 0.25],
    [[null, null], null],
    [[], null],
  ])('reduces %j to %j', (values, expected) => {
    expect(reduceEpochs(values)).toBe(expected)
  })
})

describe('scoreToNumber', () => {
  it.each<[ScoreValue, number | null]>([
    ['C', 1],
    ['I', 0],
    ['P', 0.5],
    ['N', 0],
    [true, 1],
    [false, 0],
    ['yes', 1],
    ['False', 0],
    [0.25, 0.25],
    [' 0.25 ', 0.25],
    ['', null],
    ['constructor', null],
    ['excellent', null],
    [Number.NaN, null],
    [[1, 2], null],
    [{ a: 1 }, null],
  ])('counts %j as %j', (value, expected) => {
    expect(scoreToNumber(value)).toBe(expected)
  })
})

describe('uniqueScorerNames', () => {
  it.each([
    [
      ['match', 'command'],
      ['match', 'command'],
    ],
    [
      ['a', 'a', 'a'],
      ['a', 'a1', 'a2'],
    ],
    [
      ['a', 'a', 'a1'],
      ['a', 'a2', 'a1'],
    ],
  ])('names %j %j', (names, expected) => {
    expect(uniqueScorerNames(names.map((name) => ({ name })))).toEqual(expected)
  })

  it('makes all names different and keeps each first one', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'a1', 'a2', 'b')), (names) => {
        const unique = uniqueScorerNames(names.map((name) => ({ name })))
        expect(new Set(unique).size).toBe(names.length)
        for (const [index, name] of names.entries()) {
          if (names.indexOf(name) === index) expect(unique[index]).toBe(name)
        }
      }),
    )
  })
})
