import { type EarlyStopping, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import { fakeRun, fakeTask, inputs, sample } from '../../support/fake-run.ts'

/** Stops epochs after the first of every sample that passed. */
function stopper(calls: string[]): EarlyStopping {
  const passed = new Set<string>()
  return {
    name: 'once',
    start: (samples, epochs) => void calls.push(`start ${samples.length}x${epochs}`),
    samplesAdded: (samples) => void calls.push(`added ${samples.map(({ id }) => id)}`),
    schedule: async (id) => (passed.has(String(id)) ? 'it has passed' : null),
    sampleComplete: ({ id }) => void passed.add(String(id)),
    complete: () => ({ stopped: passed.size }),
  }
}

describe('early stopping', () => {
  it('halts runs of a fixed data set and says so in the log', async () => {
    const calls: string[] = []
    const task = fakeTask({
      dataset: [sample('a'), sample('b')],
      epochs: 3,
      maxSamples: 1,
      earlyStopping: stopper(calls),
    })
    const run = await fakeRun(task)
    expect(inputs(run.records)).toEqual(['a', 'b'])
    expect(run.result.evals[0]?.footer).toMatchObject({
      status: 'success',
      totals: { total: 6, success: 2, abandoned: 4 },
      earlyStopping: { stopped: 2 },
    })
    expect(calls).toEqual(['start 2x3'])
  })

  it('works with a source, which is told of what was halted and may follow it up', async () => {
    const calls: string[] = []
    const told: string[] = []
    const dataset = SampleSource.fromSamples([sample('a')], {
      sampleAbandoned: async ({ input }, epoch, { why }) => {
        told.push(`${input} ${epoch} ${why}`)
        return input === 'a' ? [sample('instead', { id: `i${epoch}` })] : null
      },
    })
    const task = fakeTask({ dataset, epochs: 2, maxSamples: 1, earlyStopping: stopper(calls) })
    const run = await fakeRun(task)
    expect(told).toEqual([
      'a 2 stopped early by once: it has passed',
      'instead 2 stopped early by once: it has passed',
    ])
    expect(inputs(run.records)).toEqual(['a', 'instead'])
    expect(calls).toEqual(['start 1x2', 'added i2'])
  })

  it('by a manager without samplesAdded is refused together with a source', async () => {
    const { samplesAdded: _none, ...manager } = stopper([])
    const dataset = SampleSource.fromSamples([sample('a')])
    const refused = fakeRun(fakeTask({ dataset, earlyStopping: manager }))
    await expect(refused).rejects.toThrow(/samplesAdded/)
  })
})
