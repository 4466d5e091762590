import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTask, fileDataset, type HeaderRecord, type Sample, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { taskIdOf } from '../../../src/run/identity.ts'
import { taskFromCode } from '../../../src/task/load-tasks.ts'
import { currentSetup } from '../../../src/task/task-setup.ts'
import { fakeRun, fakeTask, sample } from '../../support/fake-run.ts'
import { tempDir } from '../../support/temp-dir.ts'

const headerOf = async (...args: Parameters<typeof fakeRun>): Promise<HeaderRecord> => {
  const [header] = (await fakeRun(...args)).log
  return header as HeaderRecord
}

const withShots = (parameters: z.ZodObject, more: object = {}) =>
  defineTask({ name: 'shots', version: '2', parameters }, () => ({
    dataset: [sample('a')],
    agent: 'nop',
    sandbox: false,
    ...more,
  }))
const shots = z.object({ shots: z.number().int().min(0).default(5) })

describe('the identity of a task', () => {
  it('is in the header: what it is, its data, its scorers, its sandbox and its parameters', async () => {
    const header = await headerOf(withShots(shots).create({ shots: 3 }).task)
    expect(header.identity).toEqual({
      id: 'belljar/shots',
      version: '2',
      dataset: { kind: 'fixed', count: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      scorers: [],
      sandbox: { task: false },
      parameters: {
        shots: { declared: 5, passed: 3, effective: 3, source: 'passed', verified: false },
      },
    })
    expect(header.task.parameters).toEqual({ shots: 3 })
  })

  it('says that a parameter was not passed by saying nothing', async () => {
    const header = await headerOf(withShots(z.object({ shots: z.number().default(4) })).create({}).task)
    expect(header.identity?.parameters.shots).toEqual({
      declared: 4,
      effective: 4,
      source: 'declared',
      verified: false,
    })
  })

  it('is whole where a parameter has neither default nor value', async () => {
    const style = z.object({ style: z.string().optional() })
    const header = await headerOf(withShots(style).create({}).task)
    expect(header.identity).toMatchObject({
      id: 'belljar/shots',
      parameters: { style: { source: 'declared', verified: false } },
    })
  })

  it('takes what the setup reports as what was really used', async () => {
    const setup = () => currentSetup('test').effective('shots', 1)
    const header = await headerOf(withShots(shots, { setup }).create({ shots: 3 }).task)
    expect(header.identity?.parameters.shots).toMatchObject({
      passed: 3,
      effective: 1,
      source: 'derived',
      verified: true,
    })
    const same = () => currentSetup('test').effective('shots', 3)
    const verified = await headerOf(withShots(shots, { setup: same }).create({ shots: 3 }).task)
    expect(verified.identity?.parameters.shots).toMatchObject({ source: 'passed', verified: true })
  })

  it.each([
    ['another name', { k: 3 }, /unknown parameter 'k' \(expected parameters: shots\)/],
    ['a negative number', { shots: -1 }, /parameter 'shots'/],
    ['half a one', { shots: 2.5 }, /parameter 'shots'/],
    ['not a number', { shots: Number.NaN }, /parameter 'shots'/],
    ['text', { shots: '3' }, /parameter 'shots'/],
  ])('is not made of %s', (_what, given, message) => {
    expect(() => withShots(shots).create(given)).toThrow(message)
  })

  it('is that of its own object and of no copy, wrapper or heir', async () => {
    const task = fakeTask({ name: 'mine', dataset: [sample('a')] })
    expect(await taskIdOf(taskFromCode(task))).toBe('belljar/mine')
    const heir = Object.create(task)
    expect(await taskIdOf({ ...taskFromCode(task), task: heir })).toBeUndefined()
    expect(await taskIdOf({ ...taskFromCode(task), task: { ...task } as never })).toBeUndefined()
    const own = defineTask({ ...task.definition, name: 'own' })
    expect(await taskIdOf(taskFromCode(own))).toBe('belljar/own')
  })

  it('is absent where there is none', async () => {
    const header = await headerOf(defineTask({ dataset: [sample('a')], agent: 'nop', sandbox: false }))
    expect('identity' in header).toBe(false)
  })

  it('is by package, and not by what the user calls it', async () => {
    await using folder = await tempDir()
    const ids: unknown[] = []
    for (const name of ['@one/evals', 'two']) {
      const directory = join(folder.path, name, 'deep')
      await mkdir(directory, { recursive: true })
      await writeFile(join(folder.path, name, 'package.json'), JSON.stringify({ name }))
      const task = fakeTask({ name: 'mmlu', dataset: [sample('a')] })
      ids.push(await taskIdOf({ ...taskFromCode(task), name: 'alias', directory }))
    }
    expect(ids).toEqual(['@one/evals/mmlu', 'two/mmlu'])
  })
})

describe('the identity of a data set', () => {
  const digestOf = async (dataset: Parameters<typeof fakeTask>[0]['dataset'], options = {}) =>
    (await headerOf(fakeTask({ dataset }), options)).identity?.dataset

  it('is of the whole seed, whatever part of it is run', async () => {
    const samples: Sample[] = [sample('a', { metadata: { x: 1, y: 2 } }), sample('b')]
    const whole = await digestOf(samples)
    expect(whole).toMatchObject({ kind: 'fixed', count: 2 })
    expect(await digestOf(samples, { limit: 1 })).toEqual(whole)
    expect(await digestOf([sample('a', { metadata: { y: 2, x: 1 } }), sample('b')])).toEqual(whole)
    expect((await digestOf([sample('a', { metadata: { x: 1, y: 3 } }), sample('b')]))?.digest).not.toBe(
      whole?.digest,
    )
  })

  it('of a source says that it is one', async () => {
    expect(await digestOf(() => SampleSource.fromSamples([sample('a')]))).toMatchObject({
      kind: 'source',
      count: 1,
    })
  })

  it('of a file names it, its split and its revision', async () => {
    await using folder = await tempDir()
    const path = join(folder.path, 'data.jsonl')
    await writeFile(path, '{"input":"x"}')
    expect(await digestOf(fileDataset(path))).toMatchObject({ name: 'data.jsonl' })
    expect(await digestOf(fileDataset(path, { name: 'gsm', split: 'test', revision: 'v1' }))).toMatchObject({
      name: 'gsm',
      split: 'test',
      revision: 'v1',
    })
  })
})

describe('a task with a setup', () => {
  it('runs it once, before the log is made and anything is started, with the seed and the parameters', async () => {
    const seen: unknown[] = []
    const { events } = await fakeRun(
      fakeTask({
        dataset: [sample('a'), sample('b')],
        setup: async ({ samples }) => void seen.push(samples.map(({ input }) => input)),
      }),
      { limit: 1, onEvent: ({ type }) => void seen.push(type) },
    )
    expect(seen.slice(0, 2)).toEqual([['a'], 'eval-start'])
    expect(events.filter(({ type }) => type === 'sample-end')).toHaveLength(1)
  })

  it('ends before anything has begun when the setup throws, and names the task', async () => {
    const events: string[] = []
    const task = fakeTask({
      dataset: [sample('a')],
      setup: () => {
        throw new Error('no pool')
      },
    })
    const run = fakeRun(task, { onEvent: ({ type }) => void events.push(type) })
    await expect(run).rejects.toThrow("task 'fake-task': its setup failed: no pool")
    expect(events).toEqual([])
  })

  it('may not report a parameter that is not declared', async () => {
    const setup = () => currentSetup('test').effective('shot', 3)
    const run = fakeRun(withShots(shots, { setup }).create({}).task)
    await expect(run).rejects.toThrow("effective('shot'): there is no such parameter (declared are: shots)")
  })
})
