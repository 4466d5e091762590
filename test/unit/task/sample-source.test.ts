import { type Sample, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import { sampleRecord } from '../../support/log-records.ts'

const context = { signal: new AbortController().signal }

describe('a sample source', () => {
  it('has no samples and no follow-ups of its own', async () => {
    const source = new SampleSource()
    expect(source.initialSamples()).toEqual([])
    expect(await source.nextSamples(context)).toBeNull()
    expect(await source.sampleComplete(sampleRecord())).toBeNull()
  })

  it('made from samples and callbacks hands them out, and is untouched by later changes of the list', async () => {
    const seed: Sample[] = [{ input: 'a' }]
    const told: unknown[] = []
    const source = SampleSource.fromSamples(seed, {
      nextSamples: async ({ signal }) => [{ input: `aborted: ${signal.aborted}` }],
      sampleComplete: async ({ id }) => void told.push(id),
    })
    seed.push({ input: 'b' })
    expect(source.initialSamples()).toEqual([{ input: 'a' }])
    expect(await source.nextSamples(context)).toEqual([{ input: 'aborted: false' }])
    await source.sampleComplete(sampleRecord({ id: 'x' }))
    expect(told).toEqual(['x'])
  })

  it('turns a callback that throws at once into a rejection', async () => {
    const source = SampleSource.fromSamples([], {
      nextSamples: () => {
        throw new Error('broken')
      },
    })
    await expect(source.nextSamples(context)).rejects.toThrow('broken')
  })
})
