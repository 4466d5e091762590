import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DuplicateSampleError } from '../../../src/errors.ts'
import { type SampleId, SampleIds } from '../../../src/sample/sample-id.ts'

const withIds = (...ids: (SampleId | undefined)[]) => ids.map((id) => ({ id }))

describe('ids of samples', () => {
  it.each<[string, (SampleId | undefined)[], SampleId[]]>([
    ['number those without one from 1', [undefined, undefined], [1, 2]],
    ['keep what was given', ['a', 7, 'b'], ['a', 7, 'b']],
    ['go around given numbers, whichever come first', [undefined, 1, undefined], [2, 1, 3]],
    ['go around numbers given as text', [undefined, '1'], [2, '1']],
    ['tell 1 from 01', [undefined, '01'], [1, '01']],
  ])('of a seed %s', (_what, given, ids) => {
    expect(new SampleIds().takeSeed(withIds(...given), 'the seed')).toEqual(ids)
  })

  it.each<[string, (SampleId | undefined)[], SampleId]>([
    ['all numbered', [undefined, undefined], 3],
    ['some named: numbers go on from the size of the seed', ['a', 'b', undefined], 4],
    ['empty', [], 1],
    ['with the next number taken', [3, undefined], 4],
  ])('go on after a seed (%s)', (_what, seed, next) => {
    const ids = new SampleIds()
    ids.takeSeed(withIds(...seed), 'the seed')
    expect(ids.takeAdded(withIds(undefined), 'nextSamples')).toEqual([next])
  })

  it('name both origins of a duplicate', () => {
    const ids = new SampleIds()
    ids.takeSeed(withIds(1, 'x'), 'the seed')
    const clash = () => ids.takeAdded(withIds('1'), 'nextSamples')
    expect(clash).toThrow(DuplicateSampleError)
    expect(clash).toThrow("duplicate sample id '1': first from the seed (sample 1), again from nextSamples")
  })

  it('refuse a duplicate within a seed and within one addition', () => {
    expect(() => new SampleIds().takeSeed(withIds('a', 'a'), 'the seed')).toThrow(
      'first from the seed (sample 1), again from the seed (sample 2)',
    )
    expect(() => new SampleIds().takeAdded(withIds('a', 'a'), 'enqueueSample')).toThrow(DuplicateSampleError)
  })

  it('take nothing of an addition in which one is a duplicate', () => {
    const ids = new SampleIds()
    ids.takeSeed(withIds('a'), 'the seed')
    expect(() => ids.takeAdded(withIds('new', undefined, 'a'), 'nextSamples')).toThrow(DuplicateSampleError)
    expect(ids.takeAdded(withIds('new', undefined), 'nextSamples')).toEqual(['new', 2])
  })

  it('are never given twice, whatever is added', () => {
    const id = fc.option(fc.oneof(fc.nat(6), fc.nat(6).map(String)), { nil: undefined })
    fc.assert(
      fc.property(
        fc.array(fc.array(id, { maxLength: 4 }), { minLength: 1, maxLength: 6 }),
        ([seed = [], ...more]) => {
          const ids = new SampleIds()
          const given: SampleId[] = []
          for (const [index, batch] of [seed, ...more].entries()) {
            try {
              given.push(
                ...(index === 0
                  ? ids.takeSeed(withIds(...batch), 'seed')
                  : ids.takeAdded(withIds(...batch), 'more')),
              )
            } catch (error) {
              expect(error).toBeInstanceOf(DuplicateSampleError)
              if (index === 0) return
            }
          }
          expect(new Set(given.map(String)).size).toBe(given.length)
        },
      ),
    )
  })
})
