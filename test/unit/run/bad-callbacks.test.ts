import { type Sample, SampleSource, type Scorer } from 'belljar'
import { describe, expect, it } from 'vitest'
import { evaluate } from '../../../src/run/evaluate.ts'
import { fakeRun, fakeTask, sample, status } from '../../support/fake-run.ts'

describe('callbacks that return what they may not', () => {
  it('end the eval when nextSamples returns nothing at all, instead of asking for ever', async () => {
    const dataset = SampleSource.fromSamples([], { nextSamples: async () => undefined as unknown as null })
    const run = await fakeRun(fakeTask({ dataset }))
    expect(status(run)).toBe('error')
    expect(run.result.evals[0]?.footer.error?.message).toContain(
      'nextSamples must return an array of samples',
    )
  })

  it('end the eval when sampleComplete returns a sample that is in no array', async () => {
    const dataset = SampleSource.fromSamples([sample('a')], {
      sampleComplete: async () => sample('b') as unknown as Sample[],
    })
    const run = await fakeRun(fakeTask({ dataset }))
    expect(status(run)).toBe('error')
    expect(run.result.evals[0]?.footer.error?.message).toMatch(
      /sampleComplete of sample '1'.*expected an array/,
    )
  })

  it.each([
    ['an infinite number', { value: Number.POSITIVE_INFINITY }],
    ['nothing', {}],
    ['a list with no number in it', { value: [Number.NaN] }],
  ])(
    'fail the sample when a scorer gives %s as value, and leave a log that can be read',
    async (_what, score) => {
      const scorer = { name: 'odd', score: async () => score } as unknown as Scorer
      const run = await fakeRun(fakeTask({ dataset: [sample('a')], scorers: [scorer], failOnError: false }))
      expect(run.records[0]).toMatchObject({ status: 'error', error: { kind: 'scorer' } })
      expect(run.records[0]?.error?.message).toContain("scorer 'odd'")
      expect(run.log.map(({ type }) => type)).toContain('footer')
    },
  )
})

describe('limits of a run', () => {
  it.each(['epochs', 'maxSamples', 'maxSandboxes', 'maxTasks'])(
    'are refused by name before anything is started: %s',
    async (name) => {
      const task = fakeTask({ dataset: [sample('a')] })
      for (const value of [0, -1, 2.5, Number.NaN])
        await expect(evaluate(task, { [name]: value })).rejects.toThrow(`${name}: expected a whole number`)
    },
  )
})
