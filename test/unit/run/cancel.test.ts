import { SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import { fakeRun, fakeTask, sample, status } from '../../support/fake-run.ts'

const TICKS = Array.from({ length: 30 }, (_, ticks) => ticks)

/** Aborts so many ticks from now. */
async function abortAfter(stop: AbortController, ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) await undefined
  stop.abort()
}

describe('cancelling a task that is driven by a source', { timeout: 60_000 }, () => {
  it('drops what sampleComplete returns, however soon after it the cancel comes', async () => {
    for (const ticks of TICKS) {
      const stop = new AbortController()
      const dataset = SampleSource.fromSamples([sample('a'), sample('b')], {
        sampleComplete: async () => {
          void abortAfter(stop, ticks)
          return [sample('more')]
        },
      })
      let addedAfter = 0
      const run = await fakeRun(fakeTask({ dataset, maxSamples: 1 }), {
        signal: stop.signal,
        onEvent: ({ type }) => {
          if (type === 'samples-added' && stop.signal.aborted) addedAfter++
        },
      })
      expect([ticks, status(run), addedAfter]).toEqual([ticks, 'cancelled', 0])
      expect(run.provider.live.size).toBe(0)
    }
  })

  it('drops what nextSamples returns, and asks no more', async () => {
    for (const ticks of TICKS) {
      const stop = new AbortController()
      let askedAfter = 0
      const dataset = SampleSource.fromSamples([], {
        nextSamples: async () => {
          if (stop.signal.aborted) askedAfter++
          void abortAfter(stop, ticks)
          return [sample('more')]
        },
        sampleComplete: async () => void abortAfter(stop, ticks),
      })
      let addedAfter = 0
      await fakeRun(fakeTask({ dataset }), {
        signal: stop.signal,
        onEvent: ({ type }) => {
          if (type === 'samples-added' && stop.signal.aborted) addedAfter++
        },
      })
      expect([ticks, askedAfter, addedAfter]).toEqual([ticks, 0, 0])
    }
  })

  it('asks nothing of a source when it was cancelled before it began', async () => {
    let asked = 0
    const dataset = SampleSource.fromSamples([], {
      nextSamples: async () => {
        asked++
        return null
      },
    })
    const run = await fakeRun(fakeTask({ dataset }), { signal: AbortSignal.abort() })
    expect([status(run), asked]).toEqual(['cancelled', 0])
  })
})
