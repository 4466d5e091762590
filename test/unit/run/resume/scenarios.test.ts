import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTask, fileDataset, RunExistsError } from 'belljar'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toJournalLine } from '../../../../src/log/journal/journal-line.ts'
import { LogLock } from '../../../../src/log/journal/log-lock.ts'
import type { HeaderRecord, LogRecord } from '../../../../src/log/records/records.ts'
import { taskFromCode } from '../../../../src/task/load-tasks.ts'
import { fakeTask, sample } from '../../../support/fake-run.ts'
import { countingAgent, ResumeFolder } from '../../../support/resume.ts'

const two = [sample('a', { id: 'a' }), sample('b', { id: 'b' })]
/** A task whose second sample fails the first time. */
function flaky(more: Partial<Parameters<typeof fakeTask>[0]> = {}) {
  const { agent, calls } = countingAgent((id, time) => id === 'b' && time === 1)
  return { calls, task: fakeTask({ dataset: two, agent, failOnError: false, ...more }) }
}

/** The journal with another header, its checksum right. */
function resealed(text: string, change: (header: Record<string, unknown>) => unknown): string {
  const [first = '', ...lines] = text.split('\n')
  const { crc: _crc, ...header } = JSON.parse(first)
  const line = toJournalLine(change(header) as LogRecord)
  return [line.toString('latin1').trimEnd(), ...lines].join('\n')
}

describe('resuming', () => {
  it('never hands a finished log to another task: nothing is run, nothing is started, nothing is written', async () => {
    await using folder = await ResumeFolder.make()
    const { log } = await folder.run(fakeTask({ name: 'one', dataset: two }))
    const { agent, calls } = countingAgent()
    const provider = new FakeProvider()
    const other = folder.run(fakeTask({ name: 'other', dataset: two, agent }), { resume: log, provider })
    await expect(other).rejects.toMatchObject({
      code: 'resume-identity',
      recorded: 'belljar/one',
      current: 'belljar/other',
    })
    expect([calls, provider.calls.filter((call) => call !== 'close')]).toEqual([[], []])
    expect(await folder.files()).toHaveLength(1)
  })

  it('has nothing but the identity between a finished log and another task', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const { log } = await folder.run(fakeTask({ name: 'one', dataset: two, agent }))
    const other = fakeTask({ name: 'other', dataset: two, agent, aliases: ['belljar/one'] })
    const handed = await folder.run(other, { resume: log })
    expect([handed.log, calls]).toEqual([log, ['a', 'b']])
  })

  it('refuses a log of a task of the same name in another package', async () => {
    await using folder = await ResumeFolder.make()
    const { task, calls } = flaky({ name: 'mmlu' })
    const inPackage = async (name: string) => {
      const directory = join(folder.path, name)
      await mkdir(directory, { recursive: true })
      await writeFile(join(directory, 'package.json'), JSON.stringify({ name }))
      return { ...taskFromCode(task), directory }
    }
    const { log } = await folder.run(await inPackage('one'))
    await expect(folder.run(await inPackage('two'), { resume: log })).rejects.toMatchObject({
      code: 'resume-identity',
      recorded: 'one/mmlu',
      current: 'two/mmlu',
    })
    expect(calls).toEqual(['a', 'b'])
  })

  it('goes by the id that the task had before', async () => {
    await using folder = await ResumeFolder.make()
    const { task, calls } = flaky({ name: 'old' })
    const { log } = await folder.run(task)
    const renamed = defineTask({ ...task.definition, name: 'new', aliases: ['belljar/old'] })
    const second = await folder.run(renamed, { resume: log })
    expect(calls).toEqual(['a', 'b', 'b'])
    expect(second.header.identity?.id).toBe('belljar/new')
  })

  it('goes by what the task is and not by what the user calls it', async () => {
    await using folder = await ResumeFolder.make()
    const { task } = flaky()
    const { log } = await folder.run({ ...taskFromCode(task), name: 'mine' })
    const second = await folder.run({ ...taskFromCode(task), name: 'yours' }, { resume: log })
    expect([second.header.identity?.id, second.header.task.name]).toEqual(['belljar/fake-task', 'yours'])
  })

  it('refuses other arguments, also from code, and names the difference', async () => {
    await using folder = await ResumeFolder.make()
    const { task: base } = flaky()
    const factory = defineTask({ name: 'p', parameters: z.object({ shots: z.number().default(5) }) }, () => ({
      ...base.definition,
      name: 'p',
    }))
    const { log } = await folder.run(factory.create({ shots: 3 }).task)
    await expect(folder.run(factory.create({ shots: 4 }).task, { resume: log })).rejects.toMatchObject({
      code: 'resume-config',
      changes: ['parameters shots: was 3, is 4'],
    })
    await expect(folder.run(factory.create({}).task, { resume: log })).rejects.toThrow('was 3, is 5')
  })

  it('lets the number of samples at once and tags change, notes it, and leaves the identity as it is', async () => {
    await using folder = await ResumeFolder.make()
    const { task } = flaky()
    const { log, header } = await folder.run(task)
    const tagged = defineTask({ ...task.definition, tags: ['new'] })
    const second = await folder.run(tagged, { resume: log, maxSamples: 1 })
    expect(second.header.lineage).toEqual([
      expect.objectContaining({ eval: header.eval, changed: ['maxSamples: was not set, is 1'] }),
    ])
    expect(second.header.identity).toEqual(header.identity)
  })

  it('lets all change that says only how it is shown and kept, and has nothing of that to note', async () => {
    await using folder = await ResumeFolder.make()
    const { task } = flaky()
    const { log, header } = await folder.run(task)
    const shown: string[] = []
    const second = await folder.run(task, {
      resume: log,
      keep: 'failed',
      serviceLogs: 'all',
      reaper: false,
      secrets: ['hidden'],
      onEvent: ({ type }) => void shown.push(type),
    })
    expect(shown).toContain('eval-end')
    expect(second.header.lineage).toEqual([expect.objectContaining({ eval: header.eval })])
    expect(second.header.lineage?.[0]).not.toHaveProperty('changed')
    expect(second.header.identity).toEqual(header.identity)
  })

  it('refuses data that were edited in between', async () => {
    await using folder = await ResumeFolder.make()
    const path = join(folder.path, 'data.jsonl')
    await writeFile(path, '{"id":"a","input":"x"}\n{"id":"b","input":"y"}')
    const { task, calls } = flaky({ dataset: fileDataset(path) })
    const { log } = await folder.run(task)
    await writeFile(path, '{"id":"a","input":"x"}\n{"id":"b","input":"z"}')
    await expect(folder.run(task, { resume: log })).rejects.toThrow(/dataset digest: was "/)
    expect(calls).toEqual(['a', 'b'])
  })

  it('refuses an image that is another one under the same name, once that is known', async () => {
    await using folder = await ResumeFolder.make()
    const { task, calls } = flaky()
    const { log } = await folder.run(task)
    const pulled = new FakeProvider()
    const before = pulled.taskInit.bind(pulled)
    pulled.taskInit = async (...args) => ({ ...(await before(...args)), images: { default: 'sha256:new' } })
    const second = await folder.run(task, { resume: log, provider: pulled })
    expect(second.result.evals[0]).toMatchObject({
      status: 'error',
      footer: { error: { code: 'resume-config' } },
    })
    expect(second.result.evals[0]?.footer.error?.message).toContain(
      "image of service 'default' (fake default): was sha256:default, is sha256:new",
    )
    expect(calls).toEqual(['a', 'b'])
  })

  it('adds no identity to a log that has none, and leaves the old one as it is', async () => {
    await using folder = await ResumeFolder.make()
    const { task, calls } = flaky()
    const { records } = await folder.run(task)
    const strip = (record: LogRecord): LogRecord => {
      if (record.type !== 'header') return record
      const { identity: _identity, ...legacy } = record
      return legacy as HeaderRecord
    }
    const legacy = await folder.journalOf(records, strip)
    const before = await folder.text(legacy)
    const second = await folder.run(task, { resume: legacy })
    expect('identity' in second.header).toBe(false)
    expect(await folder.text(legacy)).toBe(before)
    expect(calls).toEqual(['a', 'b', 'b'])
  })

  it.each<[string, unknown]>([
    ['text', 'text'],
    ['without an id', { name: 'x' }],
    ['with a number for its id', { id: 3 }],
  ])('takes an identity that is %s for none', async (_what, identity) => {
    await using folder = await ResumeFolder.make()
    const { task, calls } = flaky()
    const { records } = await folder.run(task)
    const odd = await folder.journalOf(records, (record) =>
      record.type === 'header' ? ({ ...record, identity } as HeaderRecord) : record,
    )
    const second = await folder.run(task, { resume: odd })
    expect(['identity' in second.header, calls]).toEqual([false, ['a', 'b', 'b']])
  })

  it.each<[string, (text: string) => string]>([
    ['cut off in its header', (text) => text.slice(0, 100)],
    ['no log at all', () => 'hello\n'],
    ['empty', () => ''],
    ['without a version', (text) => resealed(text, ({ belljar: _none, ...header }) => header)],
    ['no object', (text) => resealed(text, () => ['header'])],
  ])('refuses a journal that is %s by its version', async (_what, damage) => {
    await using folder = await ResumeFolder.make()
    const { task } = flaky()
    const { records } = await folder.run(task)
    const path = await folder.journalOf(records)
    await writeFile(path, damage(await folder.text(path)), 'latin1')
    await expect(folder.run(task, { resume: path })).rejects.toMatchObject({ code: 'resume-version' })
  })

  it('refuses a file that is no log, and one that is not there', async () => {
    await using folder = await ResumeFolder.make()
    const { task } = flaky()
    await writeFile(join(folder.path, 'x.eval'), 'no zip')
    await expect(folder.run(task, { resume: join(folder.path, 'x.eval') })).rejects.toMatchObject({
      code: 'resume-version',
    })
    await expect(folder.run(task, { resume: join(folder.path, 'y.eval') })).rejects.toThrow(
      'there is no such log',
    )
    await expect(folder.run(task, { resume: folder.path })).rejects.toThrow('expected a log')
  })

  it('takes no short cut where a sample is missing or failed, whatever the log says of itself', async () => {
    await using folder = await ResumeFolder.make()
    const { task, calls } = flaky()
    const first = await folder.run(task)
    expect(first.result.evals[0]?.status).toBe('success')
    await folder.run(task, { resume: first.log })
    expect(calls).toEqual(['a', 'b', 'b'])
  })

  it('goes by the samples where the outcome of a finished log is damaged', async () => {
    await using folder = await ResumeFolder.make()
    const { task, calls } = flaky()
    const { log } = await folder.run(task)
    const bytes = Buffer.from(await folder.text(log), 'latin1')
    // The first byte of the content of header.json, which is the last member.
    const at = bytes.lastIndexOf('header.json', bytes.lastIndexOf('header.json') - 1) + 'header.json'.length
    bytes.fill(0xff, at, at + 40)
    await writeFile(log, bytes)
    const second = await folder.run(task, { resume: log })
    expect(second.warnings.join()).toMatch(/its outcome cannot be read/)
    expect(calls).toEqual(['a', 'b', 'b'])
    expect(second.result.evals[0]?.footer.totals).toMatchObject({ total: 2, success: 2, reused: 1 })
  })

  it('waits for nobody: a log that is being written, or resumed already, is refused', async () => {
    await using folder = await ResumeFolder.make()
    const { task } = flaky()
    const { log } = await folder.run(task)
    const lock = await LogLock.acquire(log)
    await expect(folder.run(task, { resume: log })).rejects.toThrow(RunExistsError)
    await lock.release()
    await folder.run(task, { resume: log })
    expect((await folder.files()).filter((name) => name.endsWith('.lock'))).toEqual([])
  })

  it('is of one task', async () => {
    await using folder = await ResumeFolder.make()
    const { task } = flaky()
    const { evaluate } = await import('belljar')
    await expect(evaluate([task, task], { resume: 'x.eval', logDir: folder.path })).rejects.toThrow(
      'resume: a log is of one task, and there are 2',
    )
  })

  it('leaves out of all figures what the task has no more, and says so', async () => {
    await using folder = await ResumeFolder.make()
    const { task } = flaky()
    const { log } = await folder.run(task)
    const second = await folder.run(task, { resume: log, sampleIds: ['b'] })
    expect(second.result.evals[0]?.footer.totals).toMatchObject({ total: 1, success: 1 })
    expect(second.warnings.join()).toMatch(/no part of this eval and count in no figure: 'a'/)
    expect(second.samples.map(({ id }) => id).sort()).toEqual(['a', 'b'])
    expect(second.records.filter(({ type }) => type === 'sample-outside')).toMatchObject([{ id: 'a' }])
  })
})
