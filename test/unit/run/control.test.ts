import { enqueueSample, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import type { EvalControl, TaskCancelAction } from '../../../src/run/control/eval-control.ts'
import type { EvaluateOptions } from '../../../src/run/options.ts'
import type { TaskDefinition } from '../../../src/task/task.ts'
import { deferred, fakeRun, fakeTask, inputs, sample, status } from '../../support/fake-run.ts'

const scorer = { name: 'judge', score: async () => ({ value: 1 }) }

/** A source that keeps a list of what it is told. */
function listening(seed: string[], more: Partial<Parameters<typeof SampleSource.fromSamples>[1]> = {}) {
  const told: string[] = []
  const source = SampleSource.fromSamples(
    seed.map((name) => sample(name)),
    {
      sampleComplete: async ({ input, status }) => void told.push(`${input} ${status}`),
      sampleAbandoned: async ({ input }, epoch, { id }) =>
        void told.push(`${input} abandoned ${id}/${epoch}`),
      ...more,
    },
  )
  return { source, told }
}

/** Runs a task whose samples named `stay…` stay until they are stopped; `act` is called once the first of them runs. */
async function controlled(
  definition: Partial<TaskDefinition> & Pick<TaskDefinition, 'dataset'>,
  act: (control: EvalControl) => unknown,
  options: EvaluateOptions = {},
) {
  let control: EvalControl | undefined
  let acted: Promise<unknown> | undefined
  const agent: TaskDefinition['agent'] = async ({ sample: { input }, signal }) => {
    if (!input.startsWith('stay')) return input
    acted ??= Promise.resolve().then(() => control && act(control))
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const run = await fakeRun(fakeTask({ agent, scorers: [scorer], failOnError: false, ...definition }), {
    onStart: ({ evals }) => {
      control = evals[0]
    },
    ...options,
  })
  return { run, reply: await acted }
}

describe('cancelling one sample', () => {
  it.each([
    ['score', { status: 'limit', limit: { type: 'operator' }, scores: { judge: { value: 1 } } }],
    ['error', { status: 'error', error: { kind: 'operator' }, scores: {} }],
    ['cancel', { status: 'cancelled', scores: {} }],
  ] as const)('with %s ends it so, and the source is told once', async (action, record) => {
    const { source, told } = listening(['stay'])
    const { run, reply } = await controlled({ dataset: source }, (control) =>
      control.cancelSample(1, 1, action),
    )
    expect(reply).toEqual({ changed: true })
    expect(run.records).toMatchObject([record])
    expect([told, status(run)]).toEqual([[`stay ${record.status}`], 'success'])
    expect(run.provider.live.size).toBe(0)
  })

  it('abandons one that waits, which can be told neither to be scored nor to fail', async () => {
    const { source, told } = listening(['stay', 'waits'])
    const { run, reply } = await controlled({ dataset: source, maxSamples: 1 }, (control) => [
      control.cancelSample(2, 1, 'score').changed,
      control.cancelSample(2, 1, 'cancel').changed,
      control.cancelSample(2, 1, 'cancel').changed,
      control.cancelSample(1, 1, 'score').changed,
    ])
    expect(reply).toEqual([false, true, false, true])
    expect(told).toEqual(['waits abandoned 2/1', 'stay limit'])
    expect(run.result.evals[0]?.footer.totals).toMatchObject({ total: 2, limit: 1, abandoned: 1 })
  })

  it('only escalates', async () => {
    const { reply } = await controlled({ dataset: [sample('stay')] }, (control) =>
      (['score', 'error', 'score', 'cancel', 'cancel'] as const).map(
        (action) => control.cancelSample(1, 1, action).changed,
      ),
    )
    expect(reply).toEqual([true, false, false, true, false])
  })

  it('refuses to make an error of it that would end the whole eval', async () => {
    const { run, reply } = await controlled({ dataset: [sample('stay')], failOnError: true }, (control) => [
      control.cancelSample(1, 1, 'error'),
      control.cancelSample(1, 1, 'score'),
    ])
    expect(reply).toMatchObject(
      [{ changed: false, reason: /whole eval/ }, { changed: true }].map((one) =>
        'reason' in one ? { changed: false, reason: expect.stringMatching(/whole eval/) } : one,
      ),
    )
    expect(status(run)).toBe('success')
  })

  it('rejects completed() of one that is abandoned', async () => {
    const reasons: unknown[] = []
    const dataset = SampleSource.fromSamples([sample('parent')])
    let control: EvalControl | undefined
    const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
      if (input !== 'parent') return
      control?.pause()
      const [child] = enqueueSample(sample('child'))
      control?.cancelSample(2, 1, 'cancel')
      await child?.completed().catch(({ reason }) => reasons.push(reason))
      control?.resume()
    }
    await fakeRun(fakeTask({ dataset, agent }), {
      onStart: ({ evals }) => {
        control = evals[0]
      },
    })
    expect(reasons).toEqual(['abandoned'])
  })
})

describe('cancelling a task', () => {
  const actions: [TaskCancelAction, string][] = [
    ['score', 'limit'],
    ['error', 'error'],
  ]

  it.each(actions)('with %s ends what runs so and abandons what waits', async (action, ended) => {
    const { source, told } = listening(['stay 1', 'stay 2', 'waits'])
    const { run } = await controlled({ dataset: source, maxSamples: 2 }, (control) => control.cancel(action))
    expect(told.sort()).toEqual([`stay 1 ${ended}`, `stay 2 ${ended}`, 'waits abandoned 3/1'].sort())
    expect(run.result.evals[0]?.footer).toMatchObject({
      status: 'success',
      stopped: action,
      sourceEnded: false,
      totals: { total: 3, abandoned: 1 },
    })
  })

  it('with drain lets what runs end by itself', async () => {
    const { source, told } = listening(['stay', 'waits'])
    const { run } = await controlled({ dataset: source, maxSamples: 1 }, (control) => {
      control.cancel('drain')
      control.cancelSample(1, 1, 'score')
    })
    expect(told).toEqual(['waits abandoned 2/1', 'stay limit'])
    expect(run.result.evals[0]?.footer.stopped).toBe('drain')
  })

  it('with cancel ends all at once: the log is cancelled and the source is told nothing more', async () => {
    const { source, told } = listening(['stay', 'waits'])
    const { run } = await controlled({ dataset: source, maxSamples: 1 }, (control) =>
      control.cancel('cancel'),
    )
    expect([told, status(run), run.records.map((record) => record.status)]).toEqual([
      [],
      'cancelled',
      ['cancelled'],
    ])
  })

  it('only escalates', async () => {
    const { reply } = await controlled({ dataset: [sample('stay')] }, (control) =>
      (['drain', 'drain', 'score', 'error', 'drain', 'cancel', 'cancel'] as const).map(
        (action) => control.cancel(action).changed,
      ),
    )
    expect(reply).toEqual([true, false, true, false, false, true, false])
  })

  it('scores instead of failing where an error would end the eval', async () => {
    const { run } = await controlled({ dataset: [sample('stay')], failOnError: true }, (control) =>
      control.cancel('error'),
    )
    expect(run.records).toMatchObject([{ status: 'limit' }])
  })

  it.each(['drain', 'score', 'error', 'cancel'] as const)(
    'with %s ends one whose nextSamples never settles, with an empty seed too, and its signal is told',
    async (action) => {
      let isTold = false
      let control: EvalControl | undefined
      const dataset = SampleSource.fromSamples([], {
        nextSamples: ({ signal }) => {
          signal.addEventListener('abort', () => {
            isTold = true
          })
          setImmediate(() => control?.cancel(action))
          return new Promise(() => undefined)
        },
      })
      const run = await fakeRun(fakeTask({ dataset }), {
        onStart: ({ evals }) => {
          control = evals[0]
        },
      })
      expect([status(run), isTold]).toEqual([action === 'cancel' ? 'cancelled' : 'success', true])
    },
  )

  it.each(['drain', 'score'] as const)(
    'with %s ends a source that always has more: it is never asked again and what it returns is dropped',
    async (action) => {
      let asked = 0
      let after = 0
      const more = () => [sample('more')]
      const { source, told } = listening(['stay'], {
        nextSamples: async () => more().map((one) => ({ ...one, input: `${one.input} ${++asked}` })),
        sampleComplete: async () => more(),
        sampleAbandoned: async () => more(),
      })
      const { run } = await controlled({ dataset: source, prefetch: 5 }, (control) => {
        control.cancel(action)
        after = asked
        control.cancelSample(1, 1, 'score')
      })
      expect([asked - after, status(run), told]).toEqual([0, 'success', []])
    },
  )
})

describe('pausing', () => {
  it('a task starts nothing until it is resumed', async () => {
    const started: string[] = []
    let control: EvalControl | undefined
    const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
      started.push(input)
      if (input !== 'first') return
      control?.pause()
      setImmediate(() => {
        started.push('resumed')
        control?.resume()
      })
    }
    await fakeRun(fakeTask({ dataset: [sample('first'), sample('second')], agent, maxSamples: 1 }), {
      onStart: ({ evals }) => {
        control = evals[0]
      },
    })
    expect(started).toEqual(['first', 'resumed', 'second'])
  })

  it('one sample lets others pass it', async () => {
    let control: EvalControl | undefined
    const agent: TaskDefinition['agent'] = async ({ sample: { input } }) => {
      if (input === 'a') control?.pauseSample(2, 1)
      if (input === 'c') control?.resumeSample(2, 1)
    }
    const run = await fakeRun(
      fakeTask({ dataset: ['a', 'b', 'c', 'd'].map((name) => sample(name)), agent, maxSamples: 1 }),
      {
        onStart: ({ evals }) => {
          control = evals[0]
        },
      },
    )
    expect(inputs(run.records)).toEqual(['a', 'c', 'd', 'b'])
  })

  it('holds a running sample before its next model call, which is not working time', async () => {
    const order: string[] = []
    let control: EvalControl | undefined
    const asked = deferred()
    const model = {
      name: 'test',
      generate: async () => {
        order.push('asked')
        asked.resolve()
        return {
          message: { role: 'assistant' as const, content: 'hello' },
          stopReason: 'stop' as const,
          usage: { inputTokens: 1, outputTokens: 1 },
        }
      },
    }
    const agent: TaskDefinition['agent'] = async (context) => {
      control?.pause({ now: true })
      setImmediate(() => {
        order.push('resumed')
        control?.resume()
      })
      await context.model.generate({ messages: [], tools: [] })
    }
    await fakeRun(fakeTask({ dataset: [sample('a')], agent }), {
      model,
      onStart: ({ evals }) => {
        control = evals[0]
      },
    })
    expect(order).toEqual(['resumed', 'asked'])
  })
})
