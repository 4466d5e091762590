import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, DiskFullError, defineTask, type Model, SampleSource } from 'belljar'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { journalPathOf } from '../../../../src/log/log-paths.ts'
import { readOverview } from '../../../../src/log/read/log-reader.ts'
import { deferred, fakeTask, sample } from '../../../support/fake-run.ts'
import { countingAgent } from '../../../support/resume.ts'
import { flaky, SetRuns, two } from '../../../support/set-folder.ts'

const named = (name: string): Model => ({
  name,
  generate: async () => {
    throw new Error('not called')
  },
})

describe('a set', () => {
  it('is tried again until every task has a complete log, and runs nothing twice that has ended', async () => {
    await using folder = await SetRuns.make()
    const [steady, once, twice] = [flaky('steady', 0), flaky('once', 1), flaky('twice', 2)]
    const { result, pauses, states } = await folder.run([steady.task, once.task, twice.task])
    expect([result.isComplete, pauses]).toEqual([true, [30_000, 30_000, 60_000]])
    expect(states).toEqual({
      'belljar/steady': 'complete',
      'belljar/once': 'complete',
      'belljar/twice': 'complete',
    })
    expect([steady.calls, once.calls, twice.calls]).toEqual([
      ['a', 'b'],
      ['a', 'b', 'b'],
      ['a', 'b', 'b', 'b'],
    ])
    expect(result.tasks.map(({ attempts }) => attempts)).toEqual([1, 2, 3])
  })

  it('leaves one log a task, the newest, which holds all, and a manifest that says so', async () => {
    await using folder = await SetRuns.make()
    const { result } = await folder.run([flaky('once', 1).task, flaky('steady', 0).task])
    const logs = await folder.logs()
    expect(logs).toHaveLength(2)
    const { set, tasks } = await folder.manifest()
    expect(tasks.map(({ log }) => log).sort()).toEqual(logs)
    for (const { log, id, totals } of tasks) {
      const { header, footer, samples } = await readOverview(join(folder.path, log ?? ''))
      expect([header.identity?.id, header.set, samples.length]).toEqual([id, set, 2])
      expect(footer).toMatchObject({ status: 'success', totals })
    }
    expect(result.set).toBe(set)
  })

  it('that is complete runs nothing, and keeps its id', async () => {
    await using folder = await SetRuns.make()
    const { task, calls } = flaky('one', 0)
    const first = await folder.run(task)
    const before = await folder.logs()
    const second = await folder.run(task)
    expect([calls, second.result.isComplete, second.result.set]).toEqual([['a', 'b'], true, first.result.set])
    expect(second.result.tasks[0]?.eval?.wasComplete).toBe(true)
    expect(await folder.logs()).toEqual(before)
  })

  it('goes on where a killed one has left off, and removes what that left', async () => {
    await using folder = await SetRuns.make()
    const { task, calls } = flaky('one', 0, { maxSamples: 1 })
    const killed = join(folder.path, 'killed.journal.jsonl')
    await using elsewhere = await SetRuns.make()
    let log = ''
    await elsewhere.run(task, {
      onEvent: (event) => {
        if (event.type === 'eval-start') log = event.log
        if (event.type === 'sample-end' && event.record.id === 'a') copyFileSync(journalPathOf(log), killed)
      },
    })
    calls.length = 0
    const { result, events } = await folder.run(task)
    expect([calls, result.isComplete]).toEqual([['b'], true])
    expect(events).toContainEqual({ type: 'set-removed', log: killed, keptIn: result.tasks[0]?.eval?.log })
    expect(await folder.logs()).toEqual([result.tasks[0]?.log])
  })

  it('ends with what is not complete once its attempts are used up', async () => {
    await using folder = await SetRuns.make()
    const { task, calls } = flaky('one', 9)
    const { result, states, pauses } = await folder.run(task, { retryAttempts: 2, retryWaitMs: 1000 })
    expect([result.isComplete, states, pauses]).toEqual([false, { 'belljar/one': 'failed' }, [1000, 2000]])
    expect(calls).toEqual(['a', 'b', 'b', 'b'])
    expect(result.tasks[0]).toMatchObject({
      attempts: 3,
      why: 'its 3 attempts failed, the last one: b broke',
    })
    expect(await folder.logs()).toHaveLength(1)
    const again = await folder.run(task, { retryAttempts: 9 })
    expect([again.result.isComplete, calls.length]).toEqual([true, 4 + 7])
  })

  it('does not try again what cannot pass, while it tries again what may', async () => {
    await using folder = await SetRuns.make()
    const { agent, calls } = countingAgent()
    const hopeless = async (context: Parameters<typeof agent>[0]) => {
      await agent(context)
      throw new ConfigError('wrong', { where: 'x' })
    }
    const tasks = [fakeTask({ name: 'hopeless', dataset: two, agent: hopeless }), flaky('once', 1).task]
    const { states, result, pauses } = await folder.run(tasks)
    expect(states).toEqual({ 'belljar/hopeless': 'failed', 'belljar/once': 'complete' })
    expect([pauses.length, result.tasks[0]?.attempts, result.tasks[0]?.why]).toEqual([1, 1, 'x: wrong'])
    expect(calls.length).toBeLessThanOrEqual(2)
  })

  it('tries again while others go on, in the same run', async () => {
    await using folder = await SetRuns.make()
    const done = deferred()
    const { agent, calls } = countingAgent((id, time) => id === 'b' && time === 1)
    const noted = async (context: Parameters<typeof agent>[0]) => {
      const output = await agent(context)
      if (output === 'b') done.resolve()
      return output
    }
    const tasks = [
      fakeTask({ name: 'slow', dataset: [sample('x')], agent: async () => done.promise.then(() => 'x') }),
      fakeTask({ name: 'flaky', dataset: two, agent: noted, failOnError: false }),
    ]
    const { result, events } = await folder.run(tasks)
    expect([result.isComplete, calls]).toEqual([true, ['a', 'b', 'b']])
    expect(events.filter(({ type }) => type === 'run-start')).toHaveLength(1)
  })

  it('tries a sandbox configuration that failed again in a run of its own', async () => {
    await using folder = await SetRuns.make()
    let inits = 0
    const provider = () => {
      const made = new FakeProvider()
      const init = made.taskInit.bind(made)
      made.taskInit = async (...args) => {
        if (++inits === 1) throw new DiskFullError('full', { folder: '/', freeBytes: 0 })
        return init(...args)
      }
      return made
    }
    const { task, calls } = flaky('one', 0)
    const { result, events } = await folder.run(task, { providers: { fake: async () => provider() } })
    expect([result.isComplete, inits, calls]).toEqual([true, 2, ['a', 'b']])
    expect(events.filter(({ type }) => type === 'run-start')).toHaveLength(2)
  })

  it('goes on with the others when a task has changed under its hands', async () => {
    await using folder = await SetRuns.make()
    const [once, changing] = [flaky('once', 1), flaky('changing', 1)]
    let made = 0
    const tasks = () => {
      const epochs = ++made > 1 ? 2 : 1
      return [once.task, defineTask({ ...changing.task.definition, epochs })]
    }
    const { states, result } = await folder.run(tasks)
    expect(states).toEqual({ 'belljar/once': 'complete', 'belljar/changing': 'failed' })
    expect(result.tasks[1]?.why).toContain('epochs: was 1, is 2')
    expect(await folder.logs()).toHaveLength(2)
  })

  it('is stopped by its signal, also while it pauses, and goes on another time', async () => {
    await using folder = await SetRuns.make()
    const { task, calls } = flaky('one', 1)
    const controller = new AbortController()
    const { signal } = controller
    const stopped = await folder.run(task, { signal, onPause: () => controller.abort() })
    expect([stopped.states, calls]).toEqual([{ 'belljar/one': 'again' }, ['a', 'b']])
    const next = await folder.run(task)
    expect([next.result.isComplete, calls]).toEqual([true, ['a', 'b', 'b']])
  })

  it('runs every task with each model, and tells them apart in a later run', async () => {
    await using folder = await SetRuns.make()
    const { task, calls } = flaky('one', 0)
    await folder.run(task, { models: [named('m1')] })
    const { result } = await folder.run(task, { models: [named('m1'), named('m2')] })
    expect(result.tasks.map(({ model, state }) => `${model} ${state}`)).toEqual([
      'm1 complete',
      'm2 complete',
    ])
    expect([calls, (await folder.logs()).length]).toEqual([['a', 'b', 'a', 'b'], 2])
  })

  it('knows a task by its arguments', async () => {
    await using folder = await SetRuns.make()
    const factory = defineTask({ name: 'p', parameters: z.object({ n: z.number().default(1) }) }, () => ({
      ...flaky('p', 0).task.definition,
    }))
    const tasks = [factory.create({}).task, factory.create({ n: 2 }).task]
    const { result } = await folder.run(tasks)
    expect(result.tasks.map(({ parameters }) => parameters)).toEqual([{ n: 1 }, { n: 2 }])
    await expect(folder.run([...tasks, factory.create({ n: 2 }).task])).rejects.toThrow(
      'belljar/p (n=2) is in the set twice',
    )
  })

  it('counts samples that its task leaves out on purpose as done', async () => {
    await using folder = await SetRuns.make()
    const earlyStopping = {
      name: 'half',
      schedule: async (id: string | number) => (id === 'b' ? 'enough' : undefined),
    }
    const { task, calls } = flaky('one', 0, { earlyStopping })
    expect((await folder.run(task)).result.isComplete).toBe(true)
    expect((await folder.run(task)).result.tasks[0]?.eval?.wasComplete).toBe(true)
    expect(calls).toEqual(['a'])
  })
})

describe('the tasks of a set', () => {
  const dataset = () =>
    SampleSource.fromSamples([sample('1', { id: 's1' })], {
      sampleComplete: async ({ id }) => (id === 's1' ? [sample('2', { id: 's2' })] : null),
    })

  it('are made anew by a function for each attempt, sources among them', async () => {
    await using folder = await SetRuns.make()
    const { agent, calls } = countingAgent((id, time) => id === 's2' && time === 1)
    let made = 0
    const tasks = () => {
      made++
      return fakeTask({ name: 'source', dataset: dataset(), agent, failOnError: false })
    }
    const { result } = await folder.run(tasks)
    expect([result.isComplete, made, calls]).toEqual([true, 2, ['s1', 's2', 's2']])
  })

  it('fail where that function gives a source again that has driven an attempt', async () => {
    await using folder = await SetRuns.make()
    const { agent, calls } = countingAgent((id, time) => id === 's2' && time === 1)
    const task = fakeTask({ name: 'source', dataset: dataset(), agent, failOnError: false })
    const { result } = await folder.run(() => task)
    expect([result.tasks[0]?.state, calls]).toEqual(['failed', ['s1', 's2']])
    expect(result.tasks[0]?.why).toContain('gave the same SampleSource as before')
  })

  it('have no source that cannot begin anew', async () => {
    await using folder = await SetRuns.make()
    const task = fakeTask({ name: 'source', dataset: dataset() })
    await expect(folder.run(task)).rejects.toThrow(
      /task 'source': a set may try it again[\s\S]*dataset: \(\) =>/,
    )
    expect(await folder.files()).toEqual([])
  })
})
