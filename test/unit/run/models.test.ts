import { SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import type { Model } from '../../../src/agent/model.ts'
import { fakeRun, fakeTask, sample } from '../../support/fake-run.ts'

const named = (name: string): Model => ({
  name,
  generate: async () => ({
    message: { role: 'assistant', content: `I am ${name}` },
    stopReason: 'stop',
    usage: { inputTokens: 1, outputTokens: 1 },
  }),
})

const asking = (name: string, more: Parameters<typeof fakeTask>[0]) =>
  fakeTask({
    name,
    sandbox: false,
    agent: async ({ model, sample: { input } }) => {
      const { message } = await model.generate({ messages: [{ role: 'user', content: input }], tools: [] })
      return String(message.content)
    },
    ...more,
  })

const models = [named('one'), named('two')]

describe('several models', () => {
  it('run every task once each, with a log of its own', async () => {
    const tasks = ['a', 'b'].map((name) => asking(name, { dataset: [sample('x')] }))
    const { result, records } = await fakeRun(tasks, { models, maxTasks: 1 })
    expect(result.evals.map(({ task, header }) => `${task} ${header.model}`)).toEqual([
      'a one',
      'a two',
      'b one',
      'b two',
    ])
    expect(records.map(({ output }) => output)).toEqual(['I am one', 'I am two', 'I am one', 'I am two'])
    expect(new Set(result.evals.map(({ log }) => log)).size).toBe(4)
  })

  it('get a source each from a factory, and none of them the samples of another', async () => {
    const made: string[][] = []
    const dataset = () => {
      const told: string[] = []
      made.push(told)
      return SampleSource.fromSamples([sample('1')], {
        sampleComplete: async ({ input, output }) => {
          told.push(`${input}: ${output}`)
          return input === '1' ? [sample('2')] : null
        },
      })
    }
    const { result } = await fakeRun(asking('a', { dataset }), { models })
    expect(result.evals.map(({ status, footer }) => [status, footer.totals.success])).toEqual([
      ['success', 2],
      ['success', 2],
    ])
    expect(made).toEqual([
      ['1: I am one', '2: I am one'],
      ['1: I am two', '2: I am two'],
    ])
  })

  it('are refused one source between them, with the reason and the way', async () => {
    const task = asking('a', { dataset: SampleSource.fromSamples([sample('1')]) })
    const run = fakeRun(task, { models })
    await expect(run).rejects.toThrow(
      "task 'a' with model 'two': its SampleSource drives task 'a' with model 'one' already, and two evals would take each other's samples",
    )
    await expect(run).rejects.toThrow('dataset: () => new MySource()')
    const { result } = await fakeRun(task, { model: models[0] })
    expect(result.evals[0]?.status).toBe('success')
  })

  it.each([
    [{ models: [] }, 'at least one model'],
    [{ models: [named('one'), named('one')] }, "'one' is named twice"],
    [{ models, model: named('three') }, 'either one model or several'],
  ])('are refused as %j', async (options, message) => {
    await expect(fakeRun(asking('a', { dataset: [sample('x')] }), options)).rejects.toThrow(message)
  })
})
