import { setTimeout as sleep } from 'node:timers/promises'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import { Turns } from '../../../src/agent/loop/turns.ts'
import type { Model } from '../../../src/agent/model.ts'
import { enqueueSample, SampleSource } from '../../../src/index.ts'
import type { EvalControl } from '../../../src/run/control/eval-control.ts'
import type { TaskDefinition } from '../../../src/task/task.ts'
import { fakeRun, fakeTask, sample } from '../../support/fake-run.ts'

const model: Model = {
  name: 'priced',
  generate: async () => ({
    message: { role: 'assistant', content: 'x' },
    stopReason: 'stop',
    usage: { inputTokens: 100, outputTokens: 10 },
  }),
}

/** Asks for ever. */
const endless: TaskDefinition['agent'] = async (context) => {
  const caller = new Turns(context.model, context)
  for (;;) await caller.next({ tools: [] })
}

const scorer = { name: 'judge', score: async () => ({ value: 1 }) }

describe('a limit of a sample', () => {
  it.each(['timeMs', 'workingMs'])(
    'of %s is the agent’s: what its sandbox and its setup take is no part of it',
    async (name) => {
      const provider = new FakeProvider({ sampleInit: () => sleep(450) })
      const agent = async () => void (await sleep(10))
      const task = fakeTask({ dataset: [sample('a'), sample('b')], agent, limits: { [name]: 400 } })
      const { records } = await fakeRun(task, { provider, maxSandboxes: 1 })
      expect(records.map(({ status, limit }) => ({ status, limit }))).toEqual(
        records.map(() => ({ status: 'success', limit: undefined })),
      )
    },
  )

  it.each([
    [{ turns: 3 }, { type: 'turn', limit: 3 }, 3],
    [{ messages: 4 }, { type: 'message', limit: 4 }, 4],
    [{ tokens: 250 }, { type: 'token', limit: 250 }, 3],
    [{ outputTokens: 40 }, { type: 'output-token', limit: 40 }, 5],
    [{ cost: 0.0005 }, { type: 'cost', limit: 0.0005 }, 5],
  ])('%j ends it as a normal outcome, scored on what is there', async (limits, limit, messages) => {
    const prices = { priced: { input: 1, output: 2 } }
    const task = fakeTask({ dataset: [sample('a')], agent: endless, scorers: [scorer], limits })
    const run = await fakeRun(task, { model, prices })
    expect(run.records).toMatchObject([{ status: 'limit', limit, scores: { judge: { value: 1 } } }])
    expect(run.records[0]?.messages).toHaveLength(messages)
  })

  it('may be changed while the sample runs', async () => {
    let control: EvalControl | undefined
    const lowering: Model = {
      ...model,
      generate: async (request) => {
        if (control && request.messages.length === 2) control.limits.turns = 5
        return model.generate(request)
      },
    }
    const run = await fakeRun(fakeTask({ dataset: [sample('a')], agent: endless, limits: { turns: 1000 } }), {
      model: lowering,
      onStart: ({ evals }) => {
        control = evals[0]
      },
    })
    expect(run.records).toMatchObject([{ limit: { type: 'turn', limit: 5 } }])
  })

  it('of working time does not count the wait for another sample', async () => {
    const agent: TaskDefinition['agent'] = async ({ sample: { input }, signal }) => {
      if (input === 'child') await new Promise((resolve) => signal.addEventListener('abort', resolve))
      if (input !== 'parent') return
      const [child] = enqueueSample(sample('child'))
      await child?.completed()
    }
    const dataset = SampleSource.fromSamples([sample('parent')])
    const run = await fakeRun(fakeTask({ dataset, agent, limits: { workingMs: 500 } }), { maxSandboxes: 2 })
    expect(run.records.map(({ input, status }) => [input, status])).toEqual([
      ['child', 'limit'],
      ['parent', 'success'],
    ])
  })
})
