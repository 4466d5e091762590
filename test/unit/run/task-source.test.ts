import { enqueueTask, SampleSource, TaskSource } from 'belljar'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import type { Task } from '../../../src/task/task.ts'
import { fakeRun, fakeTask, sample, status } from '../../support/fake-run.ts'

const task = (name: string, more: Partial<Parameters<typeof fakeTask>[0]> = {}) =>
  fakeTask({ name, dataset: [sample(`${name} 1`)], ...more })

const names = (result: { evals: readonly { task: string }[] }) => result.evals.map((one) => one.task)

describe('a source of tasks', () => {
  it('runs what it returns at every point, all in one run, and is told of samples before their task', async () => {
    const told: string[] = []
    const batches: (Task[] | null)[] = [[task('c')], null]
    const source = TaskSource.fromTasks([task('a')], {
      nextTasks: async () => batches.shift() ?? null,
      sampleComplete: async ({ input }, name) => {
        told.push(`${name}: ${input}`)
        return name === 'c' ? [task('d')] : null
      },
      taskComplete: async ({ task: name, footer }) => {
        told.push(`${name} ${footer.status}`)
        return name === 'a' ? [task('b')] : null
      },
    })
    const { result } = await fakeRun(source, { maxTasks: 1 })
    expect(names(result)).toEqual(['a', 'b', 'c', 'd'])
    expect(told).toEqual([
      'a: a 1',
      'a success',
      'b: b 1',
      'b success',
      'c: c 1',
      'c success',
      'd: d 1',
      'd success',
    ])
    expect(new Set(result.evals.map(({ header }) => header.run)).size).toBe(1)
  })

  it('may start with none', async () => {
    class Later extends TaskSource {
      #asked = 0
      override async nextTasks() {
        return this.#asked++ === 0 ? [task('a')] : null
      }
    }
    const { result, provider } = await fakeRun(new Later())
    expect(names(result)).toEqual(['a'])
    expect(provider.calls).toContain('taskInit default')
  })

  it('fails the run when it throws, after what ran has ended', async () => {
    const provider = new FakeProvider()
    const source = TaskSource.fromTasks([task('a')], {
      taskComplete: async () => {
        throw new Error('taskComplete broke')
      },
    })
    await expect(fakeRun(source, { provider })).rejects.toThrow(/taskComplete broke/)
    expect(provider.live.size).toBe(0)
  })
})

describe('enqueueTask', () => {
  it('adds a task from code of another, within maxTasks, initialising a shared configuration once', async () => {
    const parent = task('parent', { agent: async () => enqueueTask(task('child')) })
    const { result, provider } = await fakeRun(parent, { maxTasks: 1 })
    expect(names(result)).toEqual(['parent', 'child'])
    expect(provider.calls.filter((call) => call === 'taskInit default')).toHaveLength(1)
    expect(provider.live.size).toBe(0)
  })

  it('is told at the call what is wrong with a task, and is refused outside a run', async () => {
    let thrown: unknown
    const agent = async () => {
      await enqueueTask(task('empty', { dataset: [] })).catch((error: unknown) => {
        thrown = error
      })
    }
    const run = await fakeRun(task('parent', { agent }))
    expect(thrown).toMatchObject({ code: 'config', message: expect.stringContaining('empty') })
    expect(status(run)).toBe('success')
    await expect(enqueueTask(task('x'))).rejects.toMatchObject({ code: 'not-in-a-run' })
  })
})

describe('one instance of a sample source', () => {
  it('for two tasks is refused, with the reason', async () => {
    const dataset = SampleSource.fromSamples([sample('a')])
    const refused = fakeRun([task('one', { dataset }), task('two', { dataset })])
    await expect(refused).rejects.toThrow(/'one' already.*each other's samples.*function/)
  })

  it('for two evals at once is refused, and may drive another once the first has ended', async () => {
    const dataset = SampleSource.fromSamples([sample('a')])
    let thrown: unknown
    const agent = async () => {
      await fakeRun(task('inner', { dataset })).catch((error: unknown) => {
        thrown = error
      })
    }
    await fakeRun(task('outer', { dataset, agent }))
    expect(thrown).toMatchObject({ code: 'config' })
    expect(status(await fakeRun(task('later', { dataset })))).toBe('success')
  })
})
