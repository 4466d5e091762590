import { ConfigError, type EnqueuedSample, enqueueSample, type Sample, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../../src/run/run-event.ts'
import { fakeRun, fakeTask, ids, inputs, sample, status } from '../../support/fake-run.ts'

const letters = (...names: string[]) => names.map((name) => sample(name, { id: name }))
const warnings = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'note' && event.level === 'warning' ? [event.message] : []))

/** Always has one more. */
function endless() {
  let asked = 0
  const source = SampleSource.fromSamples(letters('seed'), {
    nextSamples: async () => [sample(`n${++asked}`), sample(`m${asked}`)],
  })
  return { source, asked: () => asked }
}

describe('--limit n', () => {
  it('runs the first so many of a fixed data set', async () => {
    const run = await fakeRun(fakeTask({ dataset: letters('a', 'b', 'c') }), { limit: 2 })
    expect(inputs(run.records)).toEqual(['a', 'b'])
  })

  it('ends a source that always has more, cutting its last batch, with one warning a batch', async () => {
    const { source, asked } = endless()
    const run = await fakeRun(fakeTask({ dataset: source }), { limit: 4 })
    expect(inputs(run.records)).toEqual(['seed', 'n1', 'm1', 'n2'])
    expect([asked(), status(run), warnings(run.events).length]).toEqual([2, 'success', 1])
  })

  it('does not ask a source whose seed uses it up', async () => {
    const { source, asked } = endless()
    const run = await fakeRun(fakeTask({ dataset: source }), { limit: 1 })
    expect([inputs(run.records), asked()]).toEqual([['seed'], 0])
  })

  it('counts samples, not their epochs', async () => {
    const { source } = endless()
    const run = await fakeRun(fakeTask({ dataset: source, epochs: 2 }), { limit: 2 })
    expect(run.records).toHaveLength(4)
  })

  it('of 0 runs nothing and is a success', async () => {
    const { source, asked } = endless()
    const run = await fakeRun(fakeTask({ dataset: source }), { limit: 0 })
    expect([run.records, asked(), status(run)]).toEqual([[], 0, 'success'])
  })

  it('rejects completed() of what it has no room for, by its own reason', async () => {
    const reasons: unknown[] = []
    const agent = async () => {
      const [added] = enqueueSample(sample('beyond'))
      await added?.completed().catch(({ reason }) => reasons.push(reason))
    }
    await fakeRun(fakeTask({ dataset: SampleSource.fromSamples([sample('only')]), agent }), { limit: 1 })
    expect(reasons).toEqual(['over-limit'])
  })
})

describe('--limit a,b', () => {
  it('runs the samples at these positions', async () => {
    const run = await fakeRun(fakeTask({ dataset: letters('a', 'b', 'c', 'd') }), { limit: [1, 3] })
    expect(inputs(run.records)).toEqual(['b', 'c'])
  })

  it('is refused with a source before anything runs', async () => {
    const { source, asked } = endless()
    const refused = fakeRun(fakeTask({ dataset: source }), { limit: [0, 1] })
    await expect(refused).rejects.toThrow(/range/)
    expect(asked()).toBe(0)
  })

  it.each([[[2, 1]], [[-1, 2]], [1.5]])('is refused as %j', async (limit) => {
    const refused = fakeRun(fakeTask({ dataset: letters('a') }), { limit: limit as [number, number] })
    await expect(refused).rejects.toBeInstanceOf(ConfigError)
  })
})

describe('--sample-id', () => {
  it.each([
    [['a*'], ['a1', 'a2']],
    [['?1'], ['a1', 'b1']],
    [
      ['[!a]1', 'a2'],
      ['a2', 'b1'],
    ],
    [['fake-task:b1'], ['b1']],
    [['other:*', 'a1'], ['a1']],
    [['*:a1'], ['a1']],
  ])('%j picks %j', async (sampleIds, picked) => {
    const run = await fakeRun(fakeTask({ dataset: letters('a1', 'a2', 'b1') }), { sampleIds })
    expect(ids(run.records)).toEqual(picked)
  })

  it('is refused when no sample of a fixed data set matches', async () => {
    const refused = fakeRun(fakeTask({ dataset: letters('a') }), { sampleIds: ['b'] })
    await expect(refused).rejects.toThrow(/'?b/)
  })

  it('is refused together with --limit', async () => {
    const refused = fakeRun(fakeTask({ dataset: letters('a') }), { sampleIds: ['a'], limit: 1 })
    await expect(refused).rejects.toThrow(/cannot be combined/)
  })

  it('filters what a source adds; an id that is not in the seed is no error', async () => {
    const batches: (Sample[] | null)[] = [letters('x', 'y'), null]
    const dataset = SampleSource.fromSamples(letters('seed'), {
      nextSamples: async () => batches.shift() ?? null,
    })
    const run = await fakeRun(fakeTask({ dataset }), { sampleIds: ['y'] })
    expect([ids(run.records), run.result.evals[0]?.footer.totals.total]).toEqual([['y'], 1])
  })

  it('neither runs nor tells of a seed sample that it leaves out: the source is asked instead', async () => {
    const calls: string[] = []
    const dataset = SampleSource.fromSamples(letters('root'), {
      sampleComplete: async ({ id }) => {
        calls.push(`told of ${id}`)
        return id === 'root' ? letters('child') : null
      },
      nextSamples: async () => {
        calls.push('asked')
        return calls.length === 1 ? letters('child') : null
      },
    })
    const run = await fakeRun(fakeTask({ dataset }), { sampleIds: ['child'] })
    expect(ids(run.records)).toEqual(['child'])
    expect(calls).toEqual(['asked', 'told of child', 'asked'])
  })

  it('keeps the ids of what it leaves out, and rejects completed() of it', async () => {
    const seen: unknown[] = []
    const agent = async () => {
      const [left] = enqueueSample(sample('left out', { id: 'z' })) as [EnqueuedSample]
      await left.completed().catch(({ reason }) => seen.push(reason))
      for (const id of ['z', 'seed2']) {
        try {
          enqueueSample(sample('again', { id }))
        } catch (error) {
          seen.push((error as ConfigError).code)
        }
      }
    }
    const dataset = SampleSource.fromSamples(letters('seed', 'seed2'))
    await fakeRun(fakeTask({ dataset, agent }), { sampleIds: ['seed'] })
    expect(seen).toEqual(['filtered', 'duplicate-sample', 'duplicate-sample'])
  })
})
