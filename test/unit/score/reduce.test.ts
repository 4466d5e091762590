import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bootstrap, grouped, mean, std, stderr, variance } from '../../../src/score/metrics.ts'
import { isReducer, type ReducerName, reducedValues, reducerOf } from '../../../src/score/reduce.ts'

const reduce = (name: ReducerName, values: (number | null)[]) => reducedValues(values, reducerOf(name)!)

describe('a reducer', () => {
  it.each<[ReducerName, (number | null)[], number[]]>([
    ['mean', [1, 0, null], [0.5]],
    ['median', [5, 1, 3], [3]],
    ['median', [4, 1, 3, 2], [2.5]],
    ['mode', [1, 2, 2, 1], [1]],
    ['mode', [3, 2, 2], [2]],
    ['max', [0.2, 0.9, 0.4], [0.9]],
    ['collect', [1, null, 0], [1, 0]],
    ['at_least_2', [1, 0, 1], [1]],
    ['at_least_2', [1, 0, 0.5], [0]],
    ['pass_at_1', [1, 0, 0, 0], [0.25]],
    ['pass_at_2', [1, 0, 0, 0], [0.5]],
    ['pass_at_3', [1, 1, 0, 0], [1]],
    ['pass_2', [1, 1, 0, 0], [1 / 6]],
    ['pass_2', [1, 0], [0]],
    ['pass_at_2', [1, null], []],
    ['mean', [null, null], []],
  ])('%s of %j is %j', (name, values, expected) => {
    const close = expected.map((value) => expect.closeTo(value, 12))
    expect(reduce(name, values)).toEqual(close)
  })

  it('pass_at_k is what drawing k of the epochs in every way gives on average', () => {
    const drawn = (values: readonly number[], k: number): number[][] =>
      k === 0
        ? [[]]
        : values.flatMap((value, index) =>
            drawn(values.slice(index + 1), k - 1).map((rest) => [value, ...rest]),
          )
    const epochs = fc.array(fc.constantFrom(0, 1), { minLength: 3, maxLength: 8 })
    fc.assert(
      fc.property(epochs, fc.integer({ min: 1, max: 3 }), (values, k) => {
        const ways = drawn(values, k)
        const some = ways.filter((way) => way.includes(1)).length / ways.length
        const all = ways.filter((way) => !way.includes(0)).length / ways.length
        expect(reduce(`pass_at_${k}`, values)).toEqual([expect.closeTo(some, 12)])
        expect(reduce(`pass_${k}`, values)).toEqual([expect.closeTo(all, 12)])
      }),
    )
  })

  it.each(['pass_at_0', 'pass_at_', 'average', 3, null, {}])('is not %j', (value) => {
    expect(isReducer(value)).toBe(false)
  })
})

describe('metrics', () => {
  it('of spread are those of the sample', () => {
    expect(variance().compute([1, 2, 3, 4])).toBeCloseTo(5 / 3, 12)
    expect(std().compute([1, 2, 3, 4])).toBeCloseTo(Math.sqrt(5 / 3), 12)
    expect(variance().compute([1])).toBeNaN()
  })

  it('stderr with every sample its own cluster is the plain one, and greater where clusters agree', () => {
    const clustered = stderr({ cluster: 'text' })
    const values = [1, 1, 0, 0]
    expect(clustered.compute(values, [1, 2, 3, 4])).toBeCloseTo(stderr().compute(values), 12)
    expect(clustered.compute(values, ['a', 'a', 'b', 'b'])).toBeCloseTo(0.5, 12)
    expect(clustered.compute(values, ['a', 'a', 'a', 'a'])).toBeNaN()
  })

  it('bootstrap comes close to stderr, and is the same each time', () => {
    const values = Array.from({ length: 50 }, (_, index) => index % 3)
    const figure = bootstrap().compute(values)
    expect(figure).toBe(bootstrap().compute(values))
    expect(figure / stderr().compute(values)).toBeCloseTo(1, 0)
  })

  it('grouped gives a figure per group beside that of all', () => {
    const metric = grouped(mean(), 'level')
    expect([metric.key, metric.compute([1, 0, 1])]).toEqual(['level', expect.closeTo(2 / 3)])
    expect(metric.groups?.([1, 0, 1], ['easy', 'hard', 'easy'])).toEqual({ easy: 1, hard: 0 })
  })
})
