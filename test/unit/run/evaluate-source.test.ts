import { enqueueSample, type Sample, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import { deferred, fakeRun, fakeTask, ids, inputs, sample, status } from '../../support/fake-run.ts'

describe('a task driven by a sample source', () => {
  it('runs seed and later generations in one eval, numbered on from the seed', async () => {
    const seen: unknown[] = []
    const batches: (Sample[] | null)[] = [[sample('s1'), sample('s2')], null]
    const dataset = SampleSource.fromSamples([sample('s0')], {
      nextSamples: async () => batches.shift() ?? null,
      sampleComplete: async ({ id }) => void seen.push(id),
    })
    const run = await fakeRun(fakeTask({ dataset }))
    expect(status(run)).toBe('success')
    expect(ids(run.records)).toEqual([1, 2, 3])
    expect(seen).toEqual([1, 2, 3])
    const { header, footer } = run.result.evals[0]!
    expect([header.dataset.samples, footer.totals.total]).toEqual([1, 3])
  })

  it('ends after the seed when the source has no more', async () => {
    const run = await fakeRun(fakeTask({ dataset: SampleSource.fromSamples([sample('a'), sample('b')]) }))
    expect(ids(run.records)).toEqual([1, 2])
    expect(run.result.evals[0]?.footer).toMatchObject({ sourceEnded: true, totals: { total: 2, success: 2 } })
  })

  it('runs what sampleComplete returns', async () => {
    const dataset = SampleSource.fromSamples([sample('0')], {
      sampleComplete: async ({ input }) => (Number(input) < 3 ? [sample(String(Number(input) + 1))] : null),
    })
    expect(inputs((await fakeRun(fakeTask({ dataset }))).records)).toEqual(['0', '1', '2', '3'])
  })

  it('starts with nextSamples when the seed is empty, initialising before the first sample and removing all at the end', async () => {
    class Seedless extends SampleSource {
      #asked = 0
      override async nextSamples() {
        return this.#asked++ < 2 ? [sample(`n${this.#asked}`)] : null
      }
    }
    const { provider, records } = await fakeRun(fakeTask({ dataset: new Seedless() }))
    expect(inputs(records)).toEqual(['n1', 'n2'])
    expect(provider.calls).toEqual([
      'taskInit default',
      'sampleInit default 1',
      'remove default 1',
      'sampleInit default 2',
      'remove default 2',
      'taskCleanup default',
      'close',
    ])
  })

  it('gives every added sample all epochs', async () => {
    const dataset = SampleSource.fromSamples([sample('seed')], {
      sampleComplete: async ({ input, epoch }) =>
        input === 'seed' && epoch === 1 ? [sample('added')] : null,
    })
    const { records, result } = await fakeRun(fakeTask({ dataset, epochs: 3, maxSamples: 1 }))
    expect(records.map(({ input, epoch }) => `${input}${epoch}`).sort()).toEqual([
      'added1',
      'added2',
      'added3',
      'seed1',
      'seed2',
      'seed3',
    ])
    expect(result.evals[0]?.footer.totals.total).toBe(6)
  })

  it('numbers around ids that are taken and never writes on the objects it was given', async () => {
    const added = Object.freeze([
      Object.freeze(sample('explicit', { id: 2 })),
      Object.freeze(sample('numbered')),
    ])
    const batches: (readonly Sample[] | null)[] = [added, null]
    const dataset = SampleSource.fromSamples([sample('seed')], {
      nextSamples: async () => batches.shift() ?? null,
    })
    expect(ids((await fakeRun(fakeTask({ dataset }))).records)).toEqual([1, 2, 3])
  })

  it('accepts the same object twice, as it has no id of its own', async () => {
    const one = sample('again')
    const batches: (Sample[] | null)[] = [[one], [one], null]
    const dataset = SampleSource.fromSamples([], { nextSamples: async () => batches.shift() ?? null })
    expect(ids((await fakeRun(fakeTask({ dataset }))).records)).toEqual([1, 2])
  })

  it.each([
    ['the seed', '1'],
    ['an earlier batch', 7],
  ])('fails the eval when an added id is already used by %s, and names both origins', async (_what, id) => {
    const batches: (Sample[] | null)[] = [[sample('x', { id: 7 })], [sample('y', { id })], null]
    const dataset = SampleSource.fromSamples([sample('seed')], {
      nextSamples: async () => batches.shift() ?? null,
    })
    const run = await fakeRun(fakeTask({ dataset }))
    expect(status(run)).toBe('error')
    expect(run.result.evals[0]?.footer.error).toMatchObject({ kind: 'source' })
    expect(run.result.evals[0]?.footer.error?.message).toMatch(
      /duplicate sample id '(1|7)': first from (the seed|nextSamples).*, again from nextSamples/,
    )
    expect(inputs(run.records)).toEqual(['seed', 'x'])
  })

  it('injects live: a parked sample is released by one that was added meanwhile', async () => {
    const release = deferred()
    const dataset = SampleSource.fromSamples([sample('quick'), sample('parked')], {
      sampleComplete: async ({ input }) => (input === 'quick' ? [sample('releaser')] : null),
    })
    const agent = async ({ sample: { input } }: { sample: { input: string } }) => {
      if (input === 'parked') await release.promise
      if (input === 'releaser') release.resolve()
    }
    const run = await fakeRun(fakeTask({ dataset, agent, maxSamples: 2 }))
    expect(inputs(run.records)).toEqual(['quick', 'releaser', 'parked'])
  })

  it('starts a sample that is enqueued while nextSamples blocks', async () => {
    const started = deferred()
    let asked = 0
    const dataset = SampleSource.fromSamples([], {
      nextSamples: async () => {
        if (asked++ > 0) return null
        setTimeout(() => enqueueSample(sample('from a timer')), 1)
        await started.promise
        return [sample('batch')]
      },
    })
    const agent = async () => started.resolve()
    expect(inputs((await fakeRun(fakeTask({ dataset, agent }))).records)).toEqual(['from a timer', 'batch'])
  })

  it('asks again after null when a sample that was enqueued meanwhile has run', async () => {
    let asked = 0
    const dataset = SampleSource.fromSamples([], {
      nextSamples: async () => {
        if (asked++ === 0) enqueueSample(sample('late'))
        return null
      },
    })
    const run = await fakeRun(fakeTask({ dataset }))
    expect(inputs(run.records)).toEqual(['late'])
    expect(asked).toBe(2)
  })

  it('keeps follow-ups of what still ran when null was returned', async () => {
    const dataset = SampleSource.fromSamples([sample('a')], {
      nextSamples: async () => null,
      sampleComplete: async ({ input }) => (input === 'a' ? [sample('b')] : null),
    })
    expect(inputs((await fakeRun(fakeTask({ dataset, prefetch: 5 }))).records)).toEqual(['a', 'b'])
  })

  it('pauses longer and longer while the source answers [], and says so once', async () => {
    const pauses: number[] = []
    let asked = 0
    const dataset = SampleSource.fromSamples([], { nextSamples: async () => (asked++ < 9 ? [] : null) })
    const sleep = async (ms: number) => void pauses.push(ms)
    const run = await fakeRun(fakeTask({ dataset }), { sleep })
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000])
    expect(run.events.filter((event) => event.type === 'note')).toHaveLength(1)
  })

  it.each(['nextSamples', 'sampleComplete'] as const)(
    'fails the eval when %s throws, keeping what is finished',
    async (callback) => {
      const dataset = SampleSource.fromSamples([sample('done')], {
        [callback]: async () => {
          throw new Error('the generator broke')
        },
      })
      const run = await fakeRun(fakeTask({ dataset, failOnError: false }))
      expect(status(run)).toBe('error')
      expect(run.result.evals[0]?.footer.error?.message).toContain('the generator broke')
      expect(run.result.evals[0]?.footer.error?.message).toContain(callback)
      expect(inputs(run.records)).toEqual(['done'])
    },
  )

  it('ends on an abort while nextSamples blocks, whose signal is told', async () => {
    const stop = new AbortController()
    let told = false
    const dataset = SampleSource.fromSamples([], {
      nextSamples: ({ signal }) => {
        signal.addEventListener('abort', () => {
          told = true
        })
        setTimeout(() => stop.abort(), 1)
        return new Promise(() => undefined)
      },
    })
    const run = await fakeRun(fakeTask({ dataset }), { signal: stop.signal })
    expect(status(run)).toBe('cancelled')
    expect(told).toBe(true)
  })

  it('tells the source of errors, and runs its follow-ups under failOnError: false', async () => {
    const told: string[] = []
    const dataset = SampleSource.fromSamples([sample('bad')], {
      sampleComplete: async ({ input, status: how }) => {
        told.push(`${input} ${how}`)
        return input === 'bad' ? [sample('next')] : null
      },
    })
    const agent = async ({ sample: { input } }: { sample: { input: string } }) => {
      if (input === 'bad') throw new Error('no idea')
    }
    const run = await fakeRun(fakeTask({ dataset, agent, failOnError: false }))
    expect(told).toEqual(['bad error', 'next success'])
    expect(status(run)).toBe('success')
  })

  it('asks a factory for a source of its own in every eval', async () => {
    let made = 0
    const dataset = () => {
      made++
      return SampleSource.fromSamples([sample('x')])
    }
    const task = fakeTask({ dataset })
    await fakeRun([task, task])
    expect(made).toBe(2)
  })

  it.each([
    [{ '/x': { path: '/etc/passwd' } }, 'added-paths'],
    [{ '/x': { url: 'http://127.0.0.1/' } }, 'added-urls'],
  ])('refuses host files and addresses in added samples (%j)', async (files, allowance) => {
    const dataset = SampleSource.fromSamples([sample('seed')], {
      sampleComplete: async () => [sample('x', { files })],
    })
    const run = await fakeRun(fakeTask({ dataset }))
    expect(status(run)).toBe('error')
    expect(run.result.evals[0]?.footer.error?.message).toContain(allowance)
  })
})
