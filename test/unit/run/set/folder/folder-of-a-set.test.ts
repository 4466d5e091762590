import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ResumeFolder } from '../../../../support/resume.ts'
import { flaky, SetRuns } from '../../../../support/set-folder.ts'

describe('the folder of a set', () => {
  it('holds no logs of other tasks, unless they are allowed', async () => {
    await using folder = await SetRuns.make()
    await folder.run(flaky('one', 0).task)
    const [foreign = ''] = await folder.logs()
    const { task, calls } = flaky('two', 0)
    await expect(folder.run(task)).rejects.toThrow(
      `  ${foreign}: of belljar/one\nGive the set a folder of its own`,
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

  it('is not made for tasks that make no set', async () => {
    await using folder = await SetRuns.make()
    const logDir = join(folder.path, 'new')
    const { task } = flaky('one', 0)
    await expect(folder.run([task, task], { logDir })).rejects.toThrow('is in the set twice')
    expect(await folder.files()).toEqual([])
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
