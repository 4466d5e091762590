import { copyFileSync } from 'node:fs'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, defineTask, type Model, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { journalPathOf } from '../../../../src/log/log-paths.ts'
import { readOverview } from '../../../../src/log/read/log-reader.ts'
import { fakeTask, sample } from '../../../support/fake-run.ts'
import { countingAgent, ResumeFolder } from '../../../support/resume.ts'
import { SetRuns } from '../../../support/set-folder.ts'

const two = [sample('a', { id: 'a' }), sample('b', { id: 'b' })]
const named = (name: string): Model => ({
  name,
  generate: async () => {
    throw new Error('not called')
  },
})

/** Sample b fails so often before it passes. */
function flaky(name: string, failures: number, more: Partial<Parameters<typeof fakeTask>[0]> = {}) {
  const { agent, calls } = countingAgent((id, time) => id === 'b' && time <= failures)
  return { calls, task: fakeTask({ name, dataset: two, agent, failOnError: false, ...more }) }
}

describe('a set', () => {
  it('is tried again until every task has a complete log, and runs nothing twice that has ended', async () => {
    await using folder = await SetRuns.make()
    const [steady, once, twice] = [flaky('steady', 0), flaky('once', 1), flaky('twice', 2)]
    const { result, pauses, states } = await folder.run([steady.task, once.task, twice.task])
    expect([result.isComplete, pauses]).toEqual([true, [30_000, 60_000]])
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
      "'belljar/p' (n=2) is in the set twice",
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

  it('have no source that cannot begin anew', async () => {
    await using folder = await SetRuns.make()
    const task = fakeTask({ name: 'source', dataset: dataset() })
    await expect(folder.run(task)).rejects.toThrow(
      /task 'source': a set may try it again[\s\S]*dataset: \(\) =>/,
    )
    expect(await folder.files()).toEqual([])
  })
})

describe('the folder of a set', () => {
  it('holds no logs of other tasks, unless they are allowed', async () => {
    await using folder = await SetRuns.make()
    await folder.run(flaky('one', 0).task)
    const [foreign = ''] = await folder.logs()
    const { task, calls } = flaky('two', 0)
    await expect(folder.run(task)).rejects.toThrow(
      `  ${foreign}: of 'belljar/one'\nGive the set a folder of its own`,
    )
    expect(calls).toEqual([])
    const { result } = await folder.run(task, { allowForeignLogs: true })
    expect(result.isComplete).toBe(true)
    expect(await folder.logs()).toContain(foreign)
  })

  it('is refused where what results depend on has changed: nothing is run, nothing is written', async () => {
    await using folder = await SetRuns.make()
    await folder.run([flaky('one', 9).task], { retryAttempts: 0 })
    const before = await folder.logs()
    const [changed, other] = [flaky('one', 0), flaky('other', 0)]
    await expect(folder.run([other.task, changed.task], { epochs: 2 })).rejects.toMatchObject({
      code: 'resume-config',
      changes: ['epochs: was 1, is 2'],
    })
    expect([changed.calls, other.calls]).toEqual([[], []])
    expect(await folder.logs()).toEqual(before)
  })

  it('may lose its manifest, which is made anew from the logs', async () => {
    await using folder = await SetRuns.make()
    const { task, calls } = flaky('one', 0)
    await folder.run(task)
    await writeFile(join(folder.path, 'belljar-set.json'), 'torn')
    await expect(folder.run(task)).rejects.toThrow('no manifest of a set that this version knows')
    await using elsewhere = await SetRuns.make()
    const [log = ''] = await folder.logs()
    await copyFile(join(folder.path, log), join(elsewhere.path, log))
    expect((await elsewhere.run(task)).result.isComplete).toBe(true)
    expect([calls, (await elsewhere.manifest()).tasks[0]?.state]).toEqual([['a', 'b'], 'complete'])
  })

  it('may be filled by several machines, a part each, and is whole in the end', async () => {
    await using folder = await SetRuns.make()
    const tasks = ['a', 'b', 'c', 'd', 'e'].map((name) => flaky(name, 0))
    const all = tasks.map(({ task }) => task)
    const parts = [1, 2].map((number) => ({ number, of: 2 }))
    const [first, second] = await Promise.all(
      parts.map((part, index) => folder.run(index === 0 ? all : [...all].reverse(), { part })),
    )
    const sizes = [first?.result.tasks.length, second?.result.tasks.length]
    expect(sizes.sort()).toEqual([2, 3])
    expect(first?.result.set).toBe(second?.result.set)
    const whole = await folder.run(all)
    expect(whole.result.tasks.every(({ eval: last }) => last?.wasComplete)).toBe(true)
    expect(tasks.map(({ calls }) => calls.length)).toEqual([2, 2, 2, 2, 2])
    expect((await folder.manifest('belljar-set.1-of-2.json')).part).toEqual({ number: 1, of: 2 })
  })

  it('keeps logs of the same task that none goes on from', async () => {
    await using folder = await SetRuns.make()
    await using elsewhere = await ResumeFolder.make()
    const { task } = flaky('one', 0)
    const { log } = await elsewhere.run(task)
    await copyFile(log, join(folder.path, 'older.eval'))
    await folder.run(task)
    const { log: newer } = await elsewhere.run(task)
    await copyFile(newer, join(folder.path, 'newer.eval'))
    const { result } = await folder.run(task)
    expect(result.tasks[0]).toMatchObject({ state: 'complete', log: 'newer.eval' })
    expect(await folder.logs()).toEqual(['newer.eval', 'older.eval'])
  })
})
