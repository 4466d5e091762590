import { exact, type Sample } from 'belljar'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import { EvalFile } from '../../../../src/log/eval/file/eval-file.ts'
import { fakeTask, sample } from '../../../support/fake-run.ts'
import { countingAgent, ResumeFolder } from '../../../support/resume.ts'

const ids = (count: number) => Array.from({ length: count }, (_, index) => `s${index + 1}`)
const dataset = (count: number): Sample[] => ids(count).map((id) => sample(id, { id, target: id }))
const byId = (one: { id: unknown }, other: { id: unknown }) => String(one.id).localeCompare(String(other.id))

describe('an eval that goes on from a log', () => {
  it('runs only what failed, and takes all else over as it is', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent((id, time) => id === 's2' && time === 1)
    const task = fakeTask({ dataset: dataset(3), agent, scorers: [exact()], failOnError: false })
    const first = await folder.run(task)
    const second = await folder.run(task, { resume: first.log })
    expect(calls).toEqual(['s1', 's2', 's3', 's2'])
    expect(second.result.evals[0]).toMatchObject({
      status: 'success',
      footer: { totals: { total: 3, success: 3, error: 0, reused: 2 }, scores: [{ scored: 3 }] },
    })
    expect(second.header.lineage).toMatchObject([{ eval: first.header.eval, run: first.header.run }])
    const reused = (attempt: typeof first) => attempt.samples.filter(({ id }) => id !== 's2').sort(byId)
    expect(reused(second)).toEqual(reused(first))
    const again = second.samples.find(({ id }) => id === 's2')
    expect(again).toMatchObject({ status: 'success', attempt: 2, earlier: [{ attempt: 1 }] })
    expect(second.events.filter(({ type }) => type === 'sample-reused')).toHaveLength(2)
  })

  it('keeps the samples that it takes over byte for byte, however often', async () => {
    await using folder = await ResumeFolder.make()
    const { agent } = countingAgent((id) => id === 's3')
    const task = fakeTask({ dataset: dataset(3), agent, failOnError: false })
    let log = (await folder.run(task)).log
    const member = async (path: string) => {
      await using file = await EvalFile.open(path)
      return file.text('samples/s1_epoch_1.json')
    }
    const before = await member(log)
    for (let time = 0; time < 3; time++) log = (await folder.run(task, { resume: log })).log
    expect(await member(log)).toBe(before)
  })

  it('goes on from the journal that a killed run left, and needs it no more once it has begun', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const task = fakeTask({ dataset: dataset(6), agent })
    const whole = await folder.run(task)
    let left = 4
    const killed = await folder.journalOf(whole.records, (record) =>
      record.type !== 'sample' || left-- > 0 ? record : undefined,
    )
    calls.length = 0
    // The second is stopped as it begins; what it has taken over is in its own journal already.
    const stop = new AbortController()
    const second = await folder.run(task, {
      resume: killed,
      signal: stop.signal,
      onEvent: ({ type }) => type === 'eval-start' && stop.abort(),
    })
    const third = await folder.run(task, { resume: second.log })
    expect(third.samples).toHaveLength(6)
    expect(calls.sort()).toEqual(['s5', 's6'])
    expect(third.result.evals[0]).toMatchObject({
      status: 'success',
      footer: { totals: { total: 6, success: 6 } },
    })
  })

  it('has a name only when all that it takes over is in it', async () => {
    await using folder = await ResumeFolder.make()
    const task = fakeTask({
      dataset: dataset(2),
      failOnError: false,
      agent: countingAgent((id) => id === 's1').agent,
    })
    const { log } = await folder.run(task)
    const seen: string[][] = []
    await folder.run(task, {
      resume: log,
      onEvent: ({ type }) => type === 'eval-start' && void folder.files().then((files) => seen.push(files)),
    })
    expect(seen[0]?.filter((name) => name.endsWith('.part'))).toEqual([])
    expect((await folder.files()).filter((name) => !name.endsWith('.eval'))).toEqual([])
  })

  it('is not run at all when it is complete: the log itself is the outcome', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const task = fakeTask({ dataset: dataset(2), agent })
    const first = await folder.run(task)
    const second = await folder.run(task, { resume: first.log, maxSamples: 1 })
    expect([second.log, calls.length]).toEqual([first.log, 2])
    expect(second.provider.calls.filter((call) => call !== 'close')).toEqual([])
    expect(await folder.files()).toHaveLength(1)
  })

  it('runs the epochs that are missing', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const task = fakeTask({ dataset: dataset(2), agent, epochs: 2 })
    const whole = await folder.run(task)
    const killed = await folder.journalOf(whole.records, (record) =>
      record.type === 'sample' && record.id === 's1' && record.epoch === 2 ? undefined : record,
    )
    calls.length = 0
    const second = await folder.run(task, { resume: killed })
    expect(calls).toEqual(['s1'])
    expect(second.samples).toHaveLength(4)
  })

  it('initialises no sandbox of which all samples are taken over', async () => {
    await using folder = await ResumeFolder.make()
    const { agent } = countingAgent((id, time) => id === 'b' && time === 1)
    const image = (name: string) => ({ kind: 'fake', config: { image: name } })
    const samples = [
      sample('a', { id: 'a', sandbox: image('one') }),
      sample('b', { id: 'b', sandbox: image('two') }),
    ]
    const task = fakeTask({ dataset: samples, agent, failOnError: false })
    const { log } = await folder.run(task)
    const { provider, records } = await folder.run(task, { resume: log })
    expect(provider.calls.filter((call) => call.startsWith('taskInit'))).toEqual(['taskInit two'])
    const keys = records.flatMap((record) => (record.type === 'config' ? [record.description] : []))
    expect(new Set(keys)).toEqual(new Set(['fake one', 'fake two']))
  })

  it('gives a sample that failed all its attempts anew', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent((_id, time) => time < 4)
    const task = fakeTask({ dataset: dataset(1), agent, retryOnError: 1, failOnError: false })
    const { log } = await folder.run(task)
    const second = await folder.run(task, { resume: log })
    expect(calls).toHaveLength(4)
    expect(second.samples[0]).toMatchObject({ status: 'success', attempt: 4 })
  })

  it('counts what it did not come to as it was', async () => {
    await using folder = await ResumeFolder.make()
    const { agent } = countingAgent((id) => id === 's2')
    const task = fakeTask({ dataset: dataset(2), agent, failOnError: false })
    const { log } = await folder.run(task)
    const stop = new AbortController()
    const second = await folder.run(task, {
      resume: log,
      signal: stop.signal,
      onEvent: ({ type }) => type === 'eval-start' && stop.abort(),
    })
    expect(second.result.evals[0]?.footer).toMatchObject({
      status: 'cancelled',
      totals: { total: 2, success: 1, error: 1 },
    })
    expect([...second.samples].sort(byId).map(({ id, status }) => [id, status])).toEqual([
      ['s1', 'success'],
      ['s2', 'error'],
    ])
  })
})

describe('an eval that goes on with a part of what is left', () => {
  const failing = () => {
    const broken = new FakeProvider({
      sampleInit: (_image, { sample: id }) => {
        if (id === 's3') throw new Error('no room')
      },
    })
    const failed = new Set<string>()
    const { agent, calls } = countingAgent((id) => {
      const isFirst = ['s1', 's2'].includes(id) && !failed.has(id)
      failed.add(id)
      return isFirst
    })
    return { broken, calls, task: fakeTask({ dataset: dataset(4), agent, failOnError: false }) }
  }

  it('runs only those whose sandbox failed', async () => {
    await using folder = await ResumeFolder.make()
    const { task, broken, calls } = failing()
    const { log } = await folder.run(task, { provider: broken })
    calls.length = 0
    const second = await folder.run(task, { resume: log, only: 'infra' })
    expect(calls).toEqual(['s3'])
    expect(second.result.evals[0]?.footer.totals).toMatchObject({ total: 4, success: 2, error: 2 })
    const third = await folder.run(task, { resume: second.log })
    expect(calls).toEqual(['s3', 's1', 's2'])
    expect(third.result.evals[0]?.footer.totals).toMatchObject({ total: 4, success: 4, error: 0 })
  })

  it('runs only those that are named', async () => {
    await using folder = await ResumeFolder.make()
    const { task, broken, calls } = failing()
    const { log } = await folder.run(task, { provider: broken })
    calls.length = 0
    await folder.run(task, { resume: log, only: ['s2', 's4'] })
    expect(calls).toEqual(['s2'])
  })
})
