import { expect, it } from 'vitest'
import { givenScore } from '../../../src/run/given-score.ts'
import type { Score } from '../../../src/score/scorer.ts'

it('null and NaN say that a scorer could not judge', () => {
  expect(givenScore('s', null)).toBeUndefined()
  expect(givenScore('s', { value: Number.NaN })).toBeUndefined()
  expect(givenScore('s', { value: 0 })).toEqual({ value: 0 })
})

it.each([undefined, 1, 'C', {}])('%s is no score, and the error says whose it is', (given) => {
  expect(() => givenScore('mine', given as unknown as Score)).toThrow("scorer 'mine' returned no score")
})
