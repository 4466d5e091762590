import { describe, expect, it } from 'vitest'
import { toJson } from '../../../src/log/journal/jsonl.ts'
import { fakeRun, fakeTask, sample } from '../../support/fake-run.ts'

const KEY = 'sk-"quoted"\\0123456789'
const shows = (value: unknown) => toJson(value).includes(JSON.stringify(KEY).slice(1, -1))

describe('a declared secret', () => {
  it('is in no record, event, label or result, wherever it came in', async () => {
    const seen: string[] = []
    const agent = async ({
      sandbox,
    }: {
      sandbox?: { exec(argv: string[], options: object): Promise<unknown> }
    }) => {
      await sandbox?.exec(['echo', KEY], { input: KEY, env: { KEY } }).catch(() => undefined)
      seen.push(KEY)
      throw new Error(`401 for ${KEY}`, { cause: new Error(JSON.stringify({ key: KEY })) })
    }
    const dataset = [sample(`use ${KEY}`, { id: `with ${KEY}`, metadata: { [KEY]: { deep: [KEY] } } })]
    const task = fakeTask({
      dataset,
      agent: agent as never,
      secrets: [{ name: 'my-key', value: KEY }],
      metadata: { key: KEY },
      failOnError: true,
    })
    const run = await fakeRun(task)
    expect(seen).toEqual([KEY])
    for (const part of [run.log, run.events, run.result]) expect(shows(part)).toBe(false)
    expect(run.records[0]).toMatchObject({ id: 'with [secret my-key]', input: 'use [secret my-key]' })
    expect(run.records[0]?.error?.message).toContain('401 for [secret my-key]')
    expect(run.provider.calls).toContain('sampleInit default with [secret my-key]')
  })

  it('is in no error of a run that cannot begin', async () => {
    const task = fakeTask({ dataset: [sample('a'), sample('b', { id: KEY }), sample('c', { id: KEY })] })
    const failing = fakeRun(task, { secrets: [{ name: 'my-key', value: KEY }] })
    await expect(failing).rejects.toThrow(/duplicate sample id '\[secret my-key\]'/)
  })
})
