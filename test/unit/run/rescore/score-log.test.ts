import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../../../src/agent/scripted-model.ts'
import { EvalFile } from '../../../../src/log/eval/file/eval-file.ts'
import { readLog, readOverview } from '../../../../src/log/read/log-reader.ts'
import type { SampleRecord } from '../../../../src/log/records/records.ts'
import { evaluate } from '../../../../src/run/evaluate.ts'
import { logScorers } from '../../../../src/run/rescore/log-scorers.ts'
import { scoreLog } from '../../../../src/run/rescore/score-log.ts'
import { command } from '../../../../src/score/command.ts'
import { exact } from '../../../../src/score/exact.ts'
import { includes } from '../../../../src/score/includes.ts'
import { accuracy, grouped } from '../../../../src/score/metrics.ts'
import { modelGraded } from '../../../../src/score/model-graded.ts'
import type { Scorer } from '../../../../src/score/scorer.ts'
import type { TaskDefinition } from '../../../../src/task/task.ts'
import { fakeTask } from '../../../support/fake-run.ts'
import { tempDir } from '../../../support/temp-dir.ts'

const FOREIGN = join(
  import.meta.dirname,
  '../../../corpus/inspect-logs/2026-12-01T01-25-49-00-00_arith_mHy2QKNSBMKTcsFGv4rqt3.eval',
)

const DATASET = [
  { id: 'right', input: 'say', target: 'yes', metadata: { kind: 'a' } },
  { id: 'long', input: 'say', target: 'yes', metadata: { kind: 'b' } },
  { id: 'failed', input: 'say', target: 'yes' },
]

async function logIn(directory: string, definition: Partial<TaskDefinition> = {}): Promise<string> {
  const task = fakeTask({
    dataset: DATASET,
    agent: async ({ sample }) => {
      if (sample.id === 'failed') throw new Error('gave up')
      return sample.id === 'right' ? 'yes' : 'yes indeed'
    },
    scorers: [includes()],
    failOnError: false,
    ...definition,
  })
  const { evals } = await evaluate(task, {
    logDir: directory,
    providers: { fake: async () => new FakeProvider() },
  })
  return evals[0]?.log ?? ''
}

async function samplesOf(log: string): Promise<Record<string, SampleRecord>> {
  const samples: Record<string, SampleRecord> = {}
  for await (const record of readLog(log))
    if (record.type === 'sample') samples[`${record.id} ${record.epoch}`] = record
  return samples
}

describe('scoreLog', () => {
  it('adds scores in a new log and leaves the old one as it is', async () => {
    await using folder = await tempDir()
    const log = await logIn(folder.path)
    const before = await readFile(log)
    const scored = await scoreLog(log, { scorers: [exact()] })
    expect(await readFile(log)).toEqual(before)
    expect(scored).toMatchObject({ judged: 2, leftOut: 1, failures: [] })
    expect(scored.log).toBe(log.replace('.eval', '-scored.eval'))
    const samples = await samplesOf(scored.log)
    expect(samples['right 1']?.scores).toMatchObject({ includes: { value: 'C' }, exact: { value: 'C' } })
    expect(samples['long 1']?.scores).toMatchObject({ includes: { value: 'C' }, exact: { value: 'I' } })
    expect(samples['failed 1']).toMatchObject({ scores: {}, error: { message: 'gave up' } })
    const { header, footer, samples: listed } = await readOverview(scored.log)
    expect(header.scorers.map(({ name }) => name)).toEqual(['includes', 'exact'])
    expect(header.rescored).toMatchObject([{ action: 'append', scorers: ['exact'] }])
    expect(footer?.scores).toMatchObject([
      { scorer: 'includes', scored: 2 },
      {
        scorer: 'exact',
        scored: 2,
        unscored: 0,
        metrics: [{ name: 'accuracy', value: 0.5 }, { name: 'stderr' }],
      },
    ])
    expect(listed.find(({ id }) => id === 'long')?.scores).toMatchObject({ exact: { value: 'I' } })
  })

  it('takes the place of scores when told to, and gives a name that is taken a number', async () => {
    await using folder = await tempDir()
    const log = await logIn(folder.path)
    const overwritten = await scoreLog(log, { scorers: [exact()], action: 'overwrite' })
    expect(Object.keys((await samplesOf(overwritten.log))['right 1']?.scores ?? {})).toEqual(['exact'])
    const again = await scoreLog(log, { scorers: [includes()] })
    expect(again.log).toBe(log.replace('.eval', '-scored-2.eval'))
    expect(Object.keys((await samplesOf(again.log))['right 1']?.scores ?? {})).toEqual([
      'includes',
      'includes1',
    ])
  })

  it('counts what a grader used, once, for the sample, the role and the whole', async () => {
    await using folder = await tempDir()
    const log = await logIn(folder.path)
    const usage = { inputTokens: 10, outputTokens: 2 }
    const grader = scriptedModel(() => ({ text: 'GRADE: C', usage }), { name: 'judge' })
    const scored = await scoreLog(log, { scorers: [modelGraded()], modelRoles: { grader } })
    const sample = (await samplesOf(scored.log))['right 1']
    expect(sample).toMatchObject({ usage: { judge: usage }, roleUsage: { grader: usage } })
    expect(sample?.scores.model_graded).toMatchObject({ value: 'C', explanation: 'GRADE: C' })
    await using file = await EvalFile.open(scored.log)
    expect((await file.headerMember()).stats?.role_usage).toMatchObject({
      grader: { input_tokens: 20, output_tokens: 4 },
    })
  })

  it('leaves unscored what a scorer does not judge, says what it threw, and groups by metadata', async () => {
    await using folder = await tempDir()
    const log = await logIn(folder.path)
    const picky: Scorer = {
      name: 'picky',
      metrics: [grouped(accuracy(), 'kind')],
      score: async ({ sample, sandbox }) => {
        if (sample.id === 'right') return { value: 1 }
        await sandbox.exec(['true'])
        return null
      },
    }
    const silent: Scorer = { name: 'silent', score: async () => null }
    const scored = await scoreLog(log, { scorers: [picky, silent] })
    expect(scored.failures).toMatchObject([{ id: 'long', epoch: 1, scorer: 'picky' }])
    expect(scored.failures[0]?.message).toContain('the sandbox is gone')
    expect(scored.footer.scores.slice(1)).toMatchObject([
      {
        scorer: 'picky',
        scored: 1,
        unscored: 1,
        metrics: [
          { name: 'accuracy', value: 1 },
          { name: 'accuracy[a]', value: 1 },
        ],
      },
      { scorer: 'silent', scored: 0, unscored: 2, metrics: [{ value: null }, { value: null }] },
    ])
  })

  it('reduces the epochs of a sample', async () => {
    await using folder = await tempDir()
    const log = await logIn(folder.path, { epochs: 2 })
    const second: Scorer = { name: 'second', score: async ({ epoch }) => ({ value: epoch === 2 }) }
    const scored = await scoreLog(log, { scorers: [second], reducers: ['max', 'mean'] })
    expect(scored.footer.scores.slice(1)).toMatchObject([
      { reducer: 'max', scored: 2, metrics: [{ value: 1 }, {}] },
      { reducer: 'mean', scored: 2, metrics: [{ value: 0.5 }, {}] },
    ])
  })

  it('reads a log that Inspect wrote, and keeps of it what belljar does not know', async () => {
    await using folder = await tempDir()
    const log = join(folder.path, 'inspect.eval')
    await copyFile(FOREIGN, log)
    const scored = await scoreLog(log, { scorers: [exact()] })
    expect(scored).toMatchObject({ judged: 2, leftOut: 2 })
    await using before = await EvalFile.open(log)
    await using after = await EvalFile.open(scored.log)
    expect([...after.memberNames].sort()).toEqual(
      [...before.memberNames].filter((name) => !name.startsWith('_journal/sum')).sort(),
    )
    for (const name of after.sampleMembers) {
      const [old, now] = [await before.text(name), await after.text(name)]
      const { scores, events, ...rest } = JSON.parse(now.replaceAll('NaN', '"NaN"'))
      const { scores: oldScores, events: oldEvents, ...oldRest } = JSON.parse(old.replaceAll('NaN', '"NaN"'))
      expect(rest).toEqual(oldRest)
      expect(events.slice(0, oldEvents.length)).toEqual(oldEvents)
      expect(scores).toMatchObject(oldScores ?? {})
      expect(now.includes('NaN')).toBe(old.includes('NaN'))
    }
    const { header, footer } = await readOverview(scored.log)
    expect(header.scorers.map(({ name }) => name)).toEqual(['includes', 'exact', 'exact1'])
    expect(footer?.scores.map(({ scorer }) => scorer)).toEqual(['includes', 'exact', 'exact1'])
  })

  it.each([
    ['scorers that act in the sandbox', { scorers: [command(['true'])] }, "'command' act in the sandbox"],
    ['no scorer', { scorers: [] }, 'no scorer to score with'],
  ])('refuses %s', async (_name, options, message) => {
    await using folder = await tempDir()
    const log = await logIn(folder.path)
    await expect(scoreLog(log, options)).rejects.toThrow(message)
  })

  it('writes over no file, and no log that has no end', async () => {
    await using folder = await tempDir()
    const log = await logIn(folder.path)
    await expect(scoreLog(log, { scorers: [exact()], out: log })).rejects.toThrow(
      'there is a file of that name',
    )
    const journal = join(folder.path, 'x.journal.jsonl')
    await writeFile(journal, '')
    await expect(scoreLog(journal, { scorers: [exact()] })).rejects.toThrow('the log has no end')
  })

  it('writes nothing when it is stopped', async () => {
    await using folder = await tempDir()
    const log = await logIn(folder.path)
    const stop = new AbortController()
    const stopping: Scorer = {
      name: 'stopping',
      score: async () => {
        stop.abort(new Error('stopped'))
        return { value: 1 }
      },
    }
    await expect(scoreLog(log, { scorers: [stopping], signal: stop.signal })).rejects.toThrow('stopped')
    await expect(readFile(log.replace('.eval', '-scored.eval'))).rejects.toThrow('ENOENT')
  })
})

describe('the scorers of a log', () => {
  it('of which no task file is known are built-in ones by name', async () => {
    await using folder = await tempDir()
    const log = await logIn(folder.path)
    const { header } = await readOverview(log)
    const { scorers } = await logScorers({ log, header, names: ['includes', 'math'] })
    expect(scorers.map(({ name }) => name)).toEqual(['includes', 'math'])
    await expect(logScorers({ log, header })).rejects.toThrow('its task is not known')
    await expect(logScorers({ log, header, names: ['other'] })).rejects.toThrow("there is no scorer 'other'")
  })
})
