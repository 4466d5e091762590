import { setTimeout as delay } from 'node:timers/promises'
import {
  BelljarError,
  DuplicateSampleError,
  type EnqueuedSample,
  enqueueSample,
  SampleNotCompletedError,
  type SampleRecord,
  SampleSource,
} from 'belljar'
import { describe, expect, it } from 'vitest'
import { fakeRun, fakeTask, inputs, sample, status } from '../../support/fake-run.ts'

describe('enqueueSample', () => {
  it('adds from an agent, and completed() gives a record per epoch', async () => {
    let completed: SampleRecord[] = []
    const dataset = SampleSource.fromSamples([sample('parent')])
    const agent = async ({ sample: { input }, epoch }: { sample: { input: string }; epoch: number }) => {
      if (input !== 'parent' || epoch !== 1) return
      const [child] = enqueueSample(sample('child'))
      completed = (await child?.completed()) ?? []
    }
    const run = await fakeRun(fakeTask({ dataset, agent, epochs: 2, maxSamples: 2 }), { maxSandboxes: 4 })
    expect(status(run)).toBe('success')
    expect(completed.map(({ input, epoch }) => `${input}${epoch}`)).toEqual(['child1', 'child2'])
  })

  it('is refused outside a task and in a task with a fixed data set', async () => {
    expect(() => enqueueSample(sample('x'))).toThrow(/SampleSource/)
    const agent = async () => void enqueueSample(sample('x'))
    const run = await fakeRun(fakeTask({ dataset: [sample('a')], agent, failOnError: false }))
    expect(run.records[0]?.error).toMatchObject({ code: 'not-a-source', kind: 'agent' })
  })

  it('throws for a duplicate at the call, and adds nothing of the call', async () => {
    let thrown: unknown
    const agent = async ({ sample: { input } }: { sample: { input: string } }) => {
      if (input !== 'parent') return
      try {
        enqueueSample([sample('fine', { id: 'new' }), sample('clash', { id: '1' })])
      } catch (error) {
        thrown = error
      }
    }
    const run = await fakeRun(fakeTask({ dataset: SampleSource.fromSamples([sample('parent')]), agent }))
    expect(thrown).toBeInstanceOf(DuplicateSampleError)
    expect(inputs(run.records)).toEqual(['parent'])
  })

  it('reaches the task whose code calls it, also from timers, while several run', async () => {
    const task = (name: string) =>
      fakeTask({
        name,
        dataset: SampleSource.fromSamples([sample(`${name} seed`)]),
        agent: async ({ sample: { input } }) => {
          if (!input.endsWith('seed')) return
          await delay(1)
          enqueueSample(sample(`${name} child`))
        },
      })
    const { events } = await fakeRun([task('one'), task('two')])
    const ran = events.flatMap((event) =>
      event.type === 'sample-end' ? [`${event.task}: ${event.record.input}`] : [],
    )
    expect(ran.sort()).toEqual(['one: one child', 'one: one seed', 'two: two child', 'two: two seed'])
  })

  it('rejects completed() when the task ends before the sample did', async () => {
    const children: EnqueuedSample[] = []
    const agent = async ({ sample: { input } }: { sample: { input: string } }) => {
      if (input !== 'parent') return
      children.push(...enqueueSample(sample('never')))
      throw new BelljarError('boom', 'the parent failed')
    }
    const run = await fakeRun(
      fakeTask({ dataset: SampleSource.fromSamples([sample('parent')]), agent, maxSamples: 1 }),
    )
    expect(status(run)).toBe('error')
    const outcome = await children[0]?.completed().catch((error: unknown) => error)
    expect(outcome).toBeInstanceOf(SampleNotCompletedError)
    expect(outcome).toMatchObject({ reason: 'task-ended', records: [] })
  })
})
