import { setImmediate as tick } from 'node:timers/promises'
import { enqueueSample, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import type { TaskDefinition } from '../../../src/task/task.ts'
import { fakeRun, fakeTask, inputs, sample, status } from '../../support/fake-run.ts'

const parent = () => SampleSource.fromSamples([sample('parent')])

/** Adds a sample for every letter after the first, and waits for it. */
const nesting: TaskDefinition['agent'] = async ({ sample: { input } }) => {
  const depth = Number(input.split(' ')[1] ?? 0)
  if (depth === 3) return
  const [child] = enqueueSample(sample(`child ${depth + 1}`))
  await child?.completed()
}

describe('a sample that waits for one that it added', () => {
  it('gives its slot up: generations of them end with one slot', async () => {
    const run = await fakeRun(fakeTask({ dataset: parent(), agent: nesting, maxSamples: 1, sandbox: false }))
    expect(inputs(run.records)).toEqual(['child 3', 'child 2', 'child 1', 'parent'])
  })

  it('may wait for many at once', async () => {
    const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
      if (input !== 'parent') return
      const children = enqueueSample([sample('a'), sample('b'), sample('c')])
      await Promise.all(children.map((child) => child.completed()))
    }
    const run = await fakeRun(fakeTask({ dataset: parent(), agent, maxSamples: 1, sandbox: false }))
    expect(inputs(run.records)).toEqual(['a', 'b', 'c', 'parent'])
  })

  it('may be scored by one, and a callback may wait for one', async () => {
    const seen: unknown[] = []
    const scorer = {
      name: 'judge',
      score: async ({ sample: { input } }: { sample: { input: string } }) => {
        if (input !== 'parent') return { value: 1 }
        const [child] = enqueueSample(sample('judge'))
        return { value: (await child?.completed())?.length ?? 0 }
      },
    }
    const dataset = SampleSource.fromSamples([sample('parent')], {
      sampleComplete: async ({ input }) => {
        if (input !== 'parent') return
        const [child] = enqueueSample(sample('followed'))
        seen.push((await child?.completed())?.[0]?.input)
      },
    })
    const run = await fakeRun(fakeTask({ dataset, scorers: [scorer], maxSamples: 1, sandbox: false }))
    expect([status(run), seen]).toEqual(['success', ['followed']])
  })

  it('goes on only when it has a slot again', async () => {
    let working = 0
    let most = 0
    const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
      const work = async () => {
        most = Math.max(most, ++working)
        await tick()
        working--
      }
      await work()
      if (!input.startsWith('parent')) return
      const [child] = enqueueSample(sample('child'))
      await child?.completed()
      await work()
    }
    const seed = Array.from({ length: 6 }, (_, index) => sample(`parent ${index}`))
    const run = await fakeRun(
      fakeTask({ dataset: SampleSource.fromSamples(seed), agent, maxSamples: 2, sandbox: false }),
    )
    expect([status(run), run.records.length, most]).toEqual(['success', 12, 2])
  })

  it('comes back beside one that waits for its sandbox', async () => {
    const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
      if (input !== 'parent') return
      const [quick] = enqueueSample([sample('quick'), sample('needs sandbox', { sandbox: { kind: 'fake' } })])
      await quick?.completed()
    }
    const dataset = SampleSource.fromSamples([sample('parent', { sandbox: { kind: 'fake' } })])
    const run = await fakeRun(fakeTask({ dataset, agent, maxSamples: 1, sandbox: undefined }), {
      maxSandboxes: 1,
    })
    expect([status(run), inputs(run.records)]).toEqual(['success', ['quick', 'parent', 'needs sandbox']])
  })

  it('is told when all sandboxes are held by samples that wait, instead of waiting for ever', async () => {
    const task = fakeTask({ dataset: parent(), agent: nesting, maxSamples: 8, failOnError: false })
    const run = await fakeRun(task, { maxSandboxes: 2 })
    const error = run.records.find((record) => record.error)?.error
    expect(error).toMatchObject({ code: 'sandbox-deadlock' })
    expect(error?.message).toMatch(/sample '3' would never end.*max-sandboxes/)
    expect(status(run)).toBe('success')
    expect(inputs(run.records).sort()).toEqual(['child 1', 'child 2', 'child 3', 'parent'])
  })

  it('waits as long as it takes where sandboxes suffice', async () => {
    const task = fakeTask({ dataset: parent(), agent: nesting, maxSamples: 1 })
    const run = await fakeRun(task, { maxSandboxes: 4 })
    expect(inputs(run.records)).toEqual(['child 3', 'child 2', 'child 1', 'parent'])
  })
})
