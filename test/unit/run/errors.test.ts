import { BelljarError, SampleSource, SandboxUnavailableError } from 'belljar'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import type { TaskDefinition } from '../../../src/task/task.ts'
import { fakeRun, fakeTask, inputs, sample, status } from '../../support/fake-run.ts'

const samples = (...names: string[]) => names.map((name) => sample(name))
const failing: TaskDefinition['agent'] = async ({ sample: { input } }) => {
  if (input.startsWith('bad')) throw new BelljarError('boom', `${input} broke`)
}

/** Fails as often as it is told to, counting over all attempts. */
function flaky(failures: number, error: () => Error = () => new BelljarError('boom', 'transient')) {
  let calls = 0
  const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
    if (input === 'flaky' && calls++ < failures) throw error()
  }
  return agent
}

describe('failOnError', () => {
  it.each([
    [true, 'error', 1],
    [1, 'error', 1],
    [2, 'error', 3],
    [3, 'success', 4],
    [0.5, 'error', 3],
    [0.6, 'success', 4],
    [false, 'success', 4],
  ])('%j with two errors in four is %s', async (failOnError, expected, ran) => {
    const dataset = samples('bad 1', 'fine', 'bad 2', 'last')
    const run = await fakeRun(fakeTask({ dataset, agent: failing, failOnError, maxSamples: 1 }))
    expect([status(run), run.records.length]).toEqual([expected, ran])
  })

  it('as a share counts epochs', async () => {
    const run = await fakeRun(
      fakeTask({ dataset: samples('bad', 'a', 'b'), agent: failing, failOnError: 0.4, epochs: 2 }),
    )
    expect(status(run)).toBe('success')
  })

  it('as a share of what a source makes is judged at the end, when the total is known', async () => {
    const dataset = () =>
      SampleSource.fromSamples(samples('bad'), {
        sampleComplete: async ({ input }) => (input === 'bad' ? samples('a', 'b', 'c') : null),
      })
    const run = (failOnError: number) => fakeRun(fakeTask({ dataset, agent: failing, failOnError }))
    const [lenient, strict] = [await run(0.5), await run(0.2)]
    expect([status(lenient), lenient.records.length]).toEqual(['success', 4])
    expect([status(strict), strict.records.length]).toEqual(['error', 4])
  })

  it('of the run takes the place of the task', async () => {
    const task = fakeTask({ dataset: samples('bad', 'a'), agent: failing })
    expect(status(await fakeRun(task, { failOnError: false }))).toBe('success')
  })

  it('under continueOnFail runs all, and fails at the end', async () => {
    const task = fakeTask({
      dataset: samples('bad', 'a', 'b'),
      agent: failing,
      maxSamples: 1,
      continueOnFail: true,
    })
    const run = await fakeRun(task)
    expect([status(run), run.records.length]).toEqual(['error', 3])
  })

  it('names the sample that ended the eval, and how many were unfinished', async () => {
    const dataset = samples('bad', 'a', 'b')
    const run = await fakeRun(fakeTask({ dataset, agent: failing, maxSamples: 1 }))
    expect(run.result.evals[0]?.footer.error?.message).toBe(
      "sample '1' (epoch 1) failed: bad broke (2 of 3 unfinished)",
    )
  })

  it.each([0, -1, 1.5, Number.NaN])('is refused as %d', async (failOnError) => {
    await expect(fakeRun(fakeTask({ dataset: samples('a') }), { failOnError })).rejects.toThrow(/failOnError/)
  })
})

describe('retryOnError', () => {
  it('tries again in a fresh sandbox under the same identity, keeping earlier errors, and tells the source once', async () => {
    const told: unknown[] = []
    const attempts: unknown[] = []
    const provider = new FakeProvider({
      sampleInit: (_image, { sample, epoch, attempt }) => void attempts.push([sample, epoch, attempt]),
    })
    const dataset = SampleSource.fromSamples(samples('flaky'), {
      sampleComplete: async ({ attempt, status }) => void told.push([attempt, status]),
    })
    const run = await fakeRun(fakeTask({ dataset, agent: flaky(2), retryOnError: 2 }), { provider })
    expect(attempts).toEqual([
      ['1', 1, 1],
      ['1', 1, 2],
      ['1', 1, 3],
    ])
    expect(told).toEqual([[3, 'success']])
    expect(run.records).toMatchObject([
      { attempt: 3, earlier: [{ attempt: 1, error: { code: 'boom' } }, { attempt: 2 }] },
    ])
    expect(run.result.evals[0]?.footer.totals).toMatchObject({ total: 1, success: 1, error: 0 })
    expect(provider.live.size).toBe(0)
  })

  it('goes to the back of the queue', async () => {
    const dataset = samples('flaky', 'a', 'b')
    const run = await fakeRun(fakeTask({ dataset, agent: flaky(1), retryOnError: 1, maxSamples: 1 }))
    expect(inputs(run.records)).toEqual(['a', 'b', 'flaky'])
  })

  it('ends with the last error when there are no attempts left', async () => {
    const run = await fakeRun(fakeTask({ dataset: samples('flaky'), agent: flaky(9), retryOnError: 1 }))
    expect(run.records).toMatchObject([{ status: 'error', attempt: 2, earlier: [{ attempt: 1 }] }])
    expect(status(run)).toBe('error')
  })

  it('starts with a fresh state', async () => {
    const seen: number[] = []
    const agent: TaskDefinition['agent'] = async ({ state }) => {
      seen.push(state.messages.length)
      state.messages.push({ role: 'user', content: 'left over' })
      if (seen.length === 1) throw new Error('transient')
    }
    await fakeRun(fakeTask({ dataset: samples('a'), agent, retryOnError: 1 }))
    expect(seen).toEqual([0, 0])
  })
})

describe('an error of the sandbox', () => {
  const lost = () => new SandboxUnavailableError('it is gone', { reason: 'daemon' })

  it('is counted apart from errors of the agent', async () => {
    const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
      throw input === 'lost' ? lost() : new Error('own')
    }
    const run = await fakeRun(fakeTask({ dataset: samples('lost', 'own'), agent, failOnError: false }))
    expect(run.result.evals[0]?.footer.totals).toMatchObject({ error: 2, infrastructure: 1 })
  })

  it('has attempts of its own under retryInfra', async () => {
    const dataset = samples('flaky')
    const infra = await fakeRun(fakeTask({ dataset, agent: flaky(1, lost), retryInfra: 1 }))
    const own = await fakeRun(fakeTask({ dataset, agent: flaky(1), retryInfra: 1 }))
    expect([infra.records[0]?.status, own.records[0]?.status]).toEqual(['success', 'error'])
  })
})

describe('scoreOnError', () => {
  const scorer = { name: 'judge', score: async () => ({ value: 1 }) }

  it('scores what the agent left, which stays an error', async () => {
    const task = fakeTask({ dataset: samples('bad'), agent: failing, scorers: [scorer], failOnError: false })
    const run = await fakeRun(task, { scoreOnError: true })
    expect(run.records).toMatchObject([{ status: 'error', scores: { judge: { value: 1 } } }])
    expect(run.result.evals[0]?.footer.scores[0]).toMatchObject({ scored: 1 })
  })

  it('scores the last attempt only', async () => {
    let scored = 0
    const counting = { name: 'judge', score: async () => ({ value: ++scored }) }
    const task = fakeTask({
      dataset: samples('bad'),
      agent: failing,
      scorers: [counting],
      failOnError: false,
      retryOnError: 1,
    })
    await fakeRun(task, { scoreOnError: true })
    expect(scored).toBe(1)
  })
})

describe('sourceErrors', () => {
  const dataset = () =>
    SampleSource.fromSamples(samples('a', 'b'), {
      sampleComplete: async ({ input }) => {
        if (input === 'a') throw new Error('sampleComplete broke')
        return input === 'b' ? samples('c') : null
      },
    })

  it("'eval' fails the eval, told where it threw", async () => {
    const run = await fakeRun(fakeTask({ dataset, maxSamples: 1 }))
    const { footer } = run.result.evals[0]!
    expect(footer).toMatchObject({ status: 'error', error: { kind: 'source' } })
    expect(footer.error?.message).toContain("sampleComplete of sample '1': sampleComplete broke")
  })

  it("'sample' goes on with the rest", async () => {
    const run = await fakeRun(fakeTask({ dataset, maxSamples: 1, sourceErrors: 'sample' }))
    expect([status(run), inputs(run.records)]).toEqual(['success', ['a', 'b', 'c']])
    expect(run.log).toContainEqual(expect.objectContaining({ type: 'note', level: 'error' }))
  })
})
