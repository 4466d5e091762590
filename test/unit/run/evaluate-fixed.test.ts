import { BelljarError, exact, includes, LimitExceededError, type Scorer } from 'belljar'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import { deferred, fakeRun, fakeTask, inputs, sample, status } from '../../support/fake-run.ts'

const answer = async ({ sample: { input } }: { sample: { input: string } }) => input.toUpperCase()

describe('a task with a fixed data set', () => {
  it('scores every sample and computes metrics over them', async () => {
    const dataset = [sample('a', { target: 'A' }), sample('b', { target: 'B' }), sample('c', { target: 'x' })]
    const run = await fakeRun(fakeTask({ dataset, agent: answer, scorers: [exact()] }))
    expect(run.result.evals[0]?.footer).toMatchObject({
      status: 'success',
      totals: { total: 3, success: 3, error: 0 },
      scores: [{ scorer: 'exact', scored: 3, unscored: 0 }],
    })
    expect(run.result.evals[0]?.footer.scores[0]?.metrics[0]).toEqual({
      name: 'accuracy',
      value: expect.closeTo(2 / 3),
    })
  })

  it('reduces epochs by mean before metrics, in plan order whatever the order of ending', async () => {
    const values: Record<string, number> = { 'a 1': 1, 'a 2': 0, 'b 1': 1, 'b 2': 1 }
    const order: number[][] = []
    const scorer: Scorer = {
      name: 'given',
      metrics: [{ name: 'kept', compute: (reduced) => order.push([...reduced]) }],
      score: async ({ sample: { input }, epoch }) => ({ value: values[`${input} ${epoch}`] ?? 0 }),
    }
    const first = deferred()
    const agent = async ({ sample: { input } }: { sample: { input: string } }) =>
      input === 'a' ? first.promise : void setTimeout(first.resolve, 1)
    await fakeRun(fakeTask({ dataset: [sample('a'), sample('b')], agent, scorers: [scorer], epochs: 2 }), {
      maxSandboxes: 4,
    })
    expect(order).toEqual([[0.5, 1]])
  })

  it('keeps unscored apart from zero', async () => {
    const scorer: Scorer = {
      name: 'shy',
      score: async ({ sample: { input } }) => (input === 'a' ? { value: 1 } : null),
    }
    const run = await fakeRun(fakeTask({ dataset: [sample('a'), sample('b')], scorers: [scorer] }))
    expect(run.result.evals[0]?.footer.scores[0]).toMatchObject({
      scored: 1,
      unscored: 1,
      metrics: [
        { name: 'accuracy', value: 1 },
        { name: 'stderr', value: null },
      ],
    })
  })

  it('ends the eval at the first error, cancels what runs, drops what waits, and says which sample it was', async () => {
    const dataset = [sample('waits'), sample('fails', { id: 'culprit' }), sample('never')]
    const agent = async ({
      sample: { input },
      signal,
    }: {
      sample: { input: string }
      signal: AbortSignal
    }) => {
      if (input === 'fails') throw new BelljarError('boom', 'it broke')
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const run = await fakeRun(fakeTask({ dataset, agent, maxSamples: 2 }))
    expect(status(run)).toBe('error')
    expect(run.result.evals[0]?.footer).toMatchObject({
      totals: { total: 3, error: 1, cancelled: 1 },
      error: {
        kind: 'agent',
        code: 'boom',
        message: "sample 'culprit' (epoch 1) failed: it broke (2 of 3 unfinished)",
      },
    })
    expect(run.provider.live.size).toBe(0)
  })

  it('goes on after errors under failOnError: false', async () => {
    const agent = async ({ sample: { input } }: { sample: { input: string } }) => {
      if (input === 'bad') throw new Error('it broke')
      return 'fine'
    }
    const run = await fakeRun(
      fakeTask({
        dataset: [sample('bad'), sample('good')],
        agent,
        failOnError: false,
        scorers: [includes()],
      }),
    )
    expect(status(run)).toBe('success')
    expect(run.result.evals[0]?.footer.totals).toMatchObject({ error: 1, success: 1 })
  })

  it('ends a sample at its time limit, scores what is there, and closes its sandbox to the agent', async () => {
    let late: unknown
    const agent = async ({
      state,
      sandbox,
    }: {
      state: { output: string }
      sandbox: { exec: (command: string[]) => Promise<unknown> }
    }) => {
      state.output = 'partial'
      await new Promise((resolve) => setTimeout(resolve, 30))
      late = await sandbox.exec(['true']).catch((error) => error)
    }
    const run = await fakeRun(
      fakeTask({
        dataset: [sample('x', { target: 'partial' })],
        agent,
        limits: { timeMs: 5 },
        scorers: [includes()],
      }),
    )
    expect(run.records[0]).toMatchObject({
      status: 'limit',
      limit: { type: 'time', limit: 5 },
      output: 'partial',
      scores: { includes: { value: 'C' } },
    })
    await expect.poll(() => late).toMatchObject({ code: 'sandbox-closed' })
  })

  it('takes a limit that the agent ran into as a normal outcome', async () => {
    const agent = async () => {
      throw new LimitExceededError({ type: 'turn', limit: 3 })
    }
    const run = await fakeRun(fakeTask({ dataset: [sample('x')], agent }))
    expect(status(run)).toBe('success')
    expect(run.records[0]).toMatchObject({ status: 'limit', limit: { type: 'turn', limit: 3 } })
  })

  it('puts files before setup and hidden tests after the agent', async () => {
    const seen: Record<string, string[]> = {}
    const provider = new FakeProvider({
      exec: (command, _options, files) => {
        const step = command[0]?.includes('setup') ? 'setup' : (command[0] ?? '')
        seen[step] = [...files.keys()].filter((path) => !path.startsWith('/tmp/'))
      },
    })
    const dataset = [
      sample('x', {
        files: { '/w/in': 'data', 'default:/w/more': { data: 'aGk=' } },
        setup: 'prepare',
        tests: { '/tests/check': 'exit 0' },
      }),
    ]
    const agent = async ({
      sandbox,
      sample: visible,
    }: {
      sandbox: { exec: (command: string[]) => Promise<unknown> }
      sample: object
    }) => {
      expect(visible).not.toHaveProperty('tests')
      await sandbox.exec(['agent'])
    }
    const scorer: Scorer = {
      name: 's',
      score: async ({ sandbox }) => ({ value: (await sandbox.exec(['scorer'])).exitCode === 0 }),
    }
    await fakeRun(fakeTask({ dataset, agent, scorers: [scorer] }), { provider })
    expect(seen).toEqual({
      setup: ['/w/in', '/w/more'],
      agent: ['/w/in', '/w/more'],
      scorer: ['/w/in', '/w/more', '/tests/check'],
    })
  })

  it('fails a sample whose setup fails, with what it printed', async () => {
    const provider = new FakeProvider({ exec: () => ({ exitCode: 3, stderr: 'no space left' }) })
    const run = await fakeRun(fakeTask({ dataset: [sample('x', { setup: 'false' })], failOnError: false }), {
      provider,
    })
    expect(run.records[0]?.error).toMatchObject({
      kind: 'setup',
      code: 'setup-failed',
      message: expect.stringContaining('no space left'),
    })
  })

  it('says which service is unknown', async () => {
    const run = await fakeRun(
      fakeTask({ dataset: [sample('x', { files: { 'db:/x': 'y' } })], failOnError: false }),
    )
    expect(run.records[0]?.error).toMatchObject({
      kind: 'files',
      message: expect.stringContaining("no service 'db' (services: default)"),
    })
  })

  it('runs without a sandbox, and tells an agent that wants one', async () => {
    const task = fakeTask({
      dataset: [sample('x')],
      sandbox: false,
      agent: async ({ sandbox }) => void (await sandbox.exec(['true'])),
      failOnError: false,
    })
    const run = await fakeRun(task)
    expect(run.provider.calls).toEqual([])
    expect(run.records[0]?.error?.message).toContain('no sandbox')
  })

  it('never holds more samples or sandboxes than allowed', async () => {
    let now = 0
    let most = 0
    const agent = async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 1))
      now--
    }
    const dataset = Array.from({ length: 30 }, (_, index) => sample(String(index)))
    const run = await fakeRun(fakeTask({ dataset, agent, maxSamples: 5 }), { maxSandboxes: 3 })
    expect(inputs(run.records)).toHaveLength(30)
    expect(most).toBe(3)
    expect(run.provider.mostLive).toBe(3)
  })

  it('lets two tasks alternate over one sandbox', async () => {
    const order: string[] = []
    const task = (name: string) =>
      fakeTask({
        name,
        dataset: ['1', '2', '3', '4'].map((input) => sample(name + input)),
        agent: async ({ sample: { input } }) => void order.push(input),
        maxSamples: 4,
      })
    await fakeRun([task('a'), task('b')], { maxSandboxes: 1 })
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'a4', 'b4'])
  })

  it('cancels on an abort: what is finished is kept and nothing is left', async () => {
    const stop = new AbortController()
    const agent = async ({ sample: { input } }: { sample: { input: string } }) => {
      if (input !== 'second') return
      stop.abort(new Error('enough'))
      await new Promise(() => undefined)
    }
    const run = await fakeRun(
      fakeTask({ dataset: [sample('first'), sample('second'), sample('third')], agent, maxSamples: 1 }),
      { signal: stop.signal },
    )
    expect(status(run)).toBe('cancelled')
    expect(run.records.map(({ input, status: how }) => `${input} ${how}`)).toEqual([
      'first success',
      'second cancelled',
    ])
    expect(run.provider.live.size).toBe(0)
  })

  it('is complete, and says so, when an abort comes after the last sample has ended', async () => {
    const stop = new AbortController()
    const run = await fakeRun(fakeTask({ dataset: [sample('only')] }), {
      signal: stop.signal,
      onEvent: ({ type }) => type === 'sample-end' && stop.abort(new Error('too late')),
    })
    expect(run.result.evals[0]?.footer).toMatchObject({
      status: 'success',
      sourceEnded: true,
      totals: { total: 1, success: 1, cancelled: 0 },
    })
  })

  it('reports what could not be removed, and gives its slot back', async () => {
    const left = {
      kind: 'container' as const,
      name: 'stuck',
      reason: 'the daemon hung',
      command: 'docker rm -f stuck',
    }
    const provider = new FakeProvider({ remove: () => ({ removed: 0, left: [left] }) })
    const run = await fakeRun(fakeTask({ dataset: [sample('a'), sample('b')] }), {
      provider,
      maxSandboxes: 1,
    })
    expect(status(run)).toBe('success')
    expect(run.result.left).toEqual([left])
  })
})
