import { type Sample, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import { fakeRun, fakeTask, sample, status } from '../../support/fake-run.ts'

describe('the state of a source', () => {
  it('is kept when no callback runs, with the records that it knows of', async () => {
    let running = 0
    let count = 0
    const inCallback = async (samples: Sample[] | null) => {
      running++
      await undefined
      count++
      running--
      return samples
    }
    const asked: (Sample[] | null)[] = [[sample('c')], null]
    const dataset = SampleSource.fromSamples([sample('a'), sample('b')], {
      sampleComplete: () => inCallback(null),
      nextSamples: () => inCallback(asked.shift() ?? null),
      saveState: () => {
        expect(running).toBe(0)
        return { count }
      },
    })
    const { log, records } = await fakeRun(fakeTask({ dataset }))
    const states = log.flatMap((record) => (record.type === 'source-state' ? [record] : []))
    expect(states.at(-1)?.state).toEqual({ count: 5 })
    expect(states.flatMap(({ told }) => told).sort()).toEqual(records.map(({ uuid }) => uuid).sort())
  })

  it('that cannot be saved fails the eval', async () => {
    const dataset = SampleSource.fromSamples([sample('a')], {
      saveState: () => {
        throw new Error('cannot')
      },
    })
    const run = await fakeRun(fakeTask({ dataset }))
    expect([status(run), run.result.evals[0]?.footer.error?.message]).toEqual(['error', 'saveState: cannot'])
  })
})
