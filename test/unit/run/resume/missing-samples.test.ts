import { describe, expect, it } from 'vitest'
import { ZipFile } from '../../../../src/log/zip/zip-file.ts'
import { ZipWriter } from '../../../../src/log/zip/zip-writer.ts'
import { fakeTask, sample } from '../../../support/fake-run.ts'
import { countingAgent, ResumeFolder } from '../../../support/resume.ts'

const MEMBER = 'samples/b_epoch_1.json'
const SUMMARIES = 'summaries.json'

/** Writes a finished log anew, without some members and with others changed. */
async function rewritten(path: string, change: (name: string, text: string) => string | undefined) {
  const members: [string, string][] = []
  {
    await using zip = await ZipFile.open(path)
    for (const name of zip.names) {
      const text = change(name, await zip.text(name))
      if (text !== undefined) members.push([name, text])
    }
  }
  const zip = await ZipWriter.create(path)
  for (const [name, text] of members) await zip.add(name, text)
  await zip.end()
}

const withoutSummary = (text: string) => {
  const summaries = JSON.parse(text) as { id: unknown }[]
  return JSON.stringify(summaries.filter(({ id }) => id !== 'b'))
}

describe('a finished log that says it is complete and lacks a sample', () => {
  const dataset = [sample('a', { id: 'a' }), sample('b', { id: 'b' })]
  const resumed = async (change: Parameters<typeof rewritten>[1]) => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const task = fakeTask({ dataset, agent })
    const { log } = await folder.run(task)
    await rewritten(log, change)
    const { result, samples, warnings } = await folder.run(task, { resume: log })
    return { again: calls.slice(2), totals: result.evals[0]?.footer.totals, samples, warnings }
  }

  it.each<[string, Parameters<typeof rewritten>[1], number]>([
    ['but for its summary', (name, text) => (name === MEMBER ? undefined : text), 1],
    [
      'altogether',
      (name, text) => (name === MEMBER ? undefined : name === SUMMARIES ? withoutSummary(text) : text),
      0,
    ],
  ])('%s is no short cut: that sample is run', async (_what, change, warned) => {
    const { again, totals, samples, warnings } = await resumed(change)
    expect([again, totals]).toEqual([['b'], expect.objectContaining({ total: 2, success: 2, reused: 1 })])
    expect(samples.map(({ id }) => id).sort()).toEqual(['a', 'b'])
    expect(warnings.filter((warning) => warning.includes('no more than the summary'))).toHaveLength(warned)
  })

  it('in its summaries alone has that sample, which is not run again', async () => {
    const { again, totals } = await resumed((name, text) =>
      name === SUMMARIES ? withoutSummary(text) : text,
    )
    expect([again, totals?.success]).toEqual([[], 2])
  })
})
