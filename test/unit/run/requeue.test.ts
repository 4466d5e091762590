import { SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import type { EvalControl } from '../../../src/run/control/eval-control.ts'
import type { TaskDefinition } from '../../../src/task/task.ts'
import { fakeRun, fakeTask, sample, status } from '../../support/fake-run.ts'

const scorer = { name: 'judge', score: async () => ({ value: 1 }) }

/** The first sample fails once; when the second runs, it is put back. */
async function requeued(more: Partial<TaskDefinition> = {}, nextSamples?: () => Promise<null>) {
  const told: unknown[] = []
  const replies: unknown[] = []
  let control: EvalControl | undefined
  let failed = 0
  const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
    if (input === 'flaky' && failed++ === 0) throw new Error('it broke')
    if (input === 'second')
      replies.push(control?.requeue(1, 1), control?.requeue(1, 1), control?.requeue(2, 1))
  }
  const dataset = SampleSource.fromSamples([sample('flaky'), sample('second')], {
    sampleComplete: async ({ input, status, supersedes }) => {
      told.push([input, status, supersedes])
      return supersedes ? [sample('follow-up')] : null
    },
    ...(nextSamples && { nextSamples }),
  })
  const task = fakeTask({ dataset, agent, maxSamples: 1, scorers: [scorer], failOnError: false, ...more })
  const run = await fakeRun(task, {
    onStart: ({ evals }) => {
      control = evals[0]
    },
  })
  return { run, told, replies, control }
}

describe('putting a failed sample back', () => {
  it('replaces its outcome in totals and metrics, and tells the source what it supersedes', async () => {
    const { run, told, replies } = await requeued()
    const [first] = run.records
    expect(replies).toMatchObject([{ changed: true }, { changed: false }, { changed: false }])
    expect(told).toEqual([
      ['flaky', 'error', undefined],
      ['second', 'success', undefined],
      ['flaky', 'success', first?.uuid],
      ['follow-up', 'success', undefined],
    ])
    const { footer } = run.result.evals[0]!
    expect(footer.totals).toMatchObject({ total: 3, success: 3, error: 0 })
    expect(footer.scores[0]).toMatchObject({ scored: 3 })
    expect(run.records[2]).toMatchObject({
      attempt: 2,
      supersedes: first?.uuid,
      earlier: [{ uuid: first?.uuid }],
    })
  })

  it('is refused once the task has ended', async () => {
    const { control } = await requeued()
    expect(control?.requeue(2, 1)).toMatchObject({ changed: false })
  })

  it('leaves the old outcome where it is abandoned before it runs', async () => {
    let control: EvalControl | undefined
    const told: string[] = []
    const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
      if (input === 'bad') throw new Error('it broke')
      control?.requeue(1, 1)
      control?.cancelSample(1, 1, 'cancel')
    }
    const dataset = SampleSource.fromSamples([sample('bad'), sample('second')], {
      sampleComplete: async ({ input, status }) => void told.push(`${input} ${status}`),
      sampleAbandoned: async ({ input }) => void told.push(`${input} abandoned`),
    })
    const run = await fakeRun(fakeTask({ dataset, agent, maxSamples: 1, failOnError: false }), {
      onStart: ({ evals }) => {
        control = evals[0]
      },
    })
    expect(told).toEqual(['bad error', 'second success'])
    expect(run.result.evals[0]?.footer.totals).toMatchObject({ total: 2, error: 1, success: 1, abandoned: 0 })
  })

  it('runs, with its follow-ups, while nextSamples blocks or after it has returned null', async () => {
    for (const after of [0, 1]) {
      let control: EvalControl | undefined
      let asked = 0
      let failed = 0
      const ran: string[] = []
      const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
        ran.push(input)
        if (input === 'flaky' && failed++ === 0) throw new Error('it broke')
        if (input === 'late') control?.requeue(1, 1)
      }
      const dataset = SampleSource.fromSamples([sample('flaky'), ...(after === 1 ? [sample('late')] : [])], {
        nextSamples: async () => {
          if (asked++ > 0 || after === 1) return null
          control?.requeue(1, 1)
          for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve))
          return null
        },
        sampleComplete: async ({ supersedes }) => (supersedes ? [sample('follow-up')] : null),
      })
      const run = await fakeRun(
        fakeTask({ dataset, agent, prefetch: after, maxSamples: 1, failOnError: false }),
        {
          onStart: ({ evals }) => {
            control = evals[0]
          },
        },
      )
      expect(ran.slice(-2)).toEqual(['flaky', 'follow-up'])
      expect(status(run)).toBe('success')
    }
  })
})
