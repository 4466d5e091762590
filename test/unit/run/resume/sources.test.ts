import { enqueueSample, type LogRecord, type Sample, type SampleRecord, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import { fakeTask, sample } from '../../../support/fake-run.ts'
import { countingAgent, ResumeFolder } from '../../../support/resume.ts'

const level = (n: number): Sample => sample(`level ${n}`, { id: `l${n}`, metadata: { n } })
const levelOf = ({ metadata }: SampleRecord) => Number(metadata.n)

/** Goes on to the next level after each, and says what it was told. */
function ladder(top: number) {
  const told: string[] = []
  const dataset = () =>
    SampleSource.fromSamples([level(1)], {
      sampleComplete: async (record) => {
        told.push(`${record.id} ${record.status}${record.supersedes ? ' again' : ''}`)
        return record.status === 'success' && levelOf(record) < top ? [level(levelOf(record) + 1)] : null
      },
    })
  return { dataset, told }
}

/** Keeps in its state how far it has come: told of nothing again, it makes nothing again. */
class Cursor extends SampleSource {
  readonly told: string[]
  readonly #top: number
  #next = 1

  constructor(top: number, told: string[]) {
    super()
    this.#top = top
    this.told = told
  }

  override async nextSamples(): Promise<Sample[] | null> {
    if (this.#next > this.#top) return null
    return [level(this.#next++), level(this.#next++)]
  }

  override async sampleComplete({ id, supersedes }: SampleRecord): Promise<null> {
    this.told.push(`${id}${supersedes ? ' again' : ''}`)
    return null
  }

  override saveState = () => ({ next: this.#next })
  override restoreState = (state: unknown) => {
    this.told.push('restored')
    this.#next = (state as { next: number }).next
  }
}

/** The log as it was when so many samples had ended, with all that was written up to there. */
const until = (ended: number) => {
  let left = ended
  let isCut = false
  return (record: LogRecord) => {
    if (isCut) return undefined
    if (record.type === 'sample') isCut = --left === 0
    return record
  }
}

describe('a source that is driven again', () => {
  it('is told of what is taken over, in order, and what it makes again is not run again', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const first = ladder(6)
    const whole = await folder.run(fakeTask({ dataset: first.dataset, agent }))
    const killed = await folder.journalOf(whole.records, until(3))
    calls.length = 0
    const second = ladder(6)
    const run = await folder.run(fakeTask({ dataset: second.dataset, agent }), { resume: killed })
    expect(calls).toEqual(['l4', 'l5', 'l6'])
    expect(second.told).toEqual(first.told)
    expect(run.samples.map(({ id }) => id)).toEqual(['l1', 'l2', 'l3', 'l4', 'l5', 'l6'])
    expect(run.result.evals[0]?.footer).toMatchObject({
      sourceEnded: true,
      totals: { total: 6, success: 6, reused: 3 },
    })
  })

  it('is told once of what failed and is run again, as if for the first time', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent((id, time) => id === 'l2' && time === 1)
    const first = ladder(3)
    const { log } = await folder.run(fakeTask({ dataset: first.dataset, agent, failOnError: false }))
    const second = ladder(3)
    await folder.run(fakeTask({ dataset: second.dataset, agent, failOnError: false }), { resume: log })
    expect(first.told).toEqual(['l1 success', 'l2 error'])
    expect(second.told).toEqual(['l1 success', 'l2 success', 'l3 success'])
    expect(calls).toEqual(['l1', 'l2', 'l2', 'l3'])
  })

  it('does not ask for more, nor start anything, before all has been told', async () => {
    await using folder = await ResumeFolder.make()
    const seen: string[] = []
    const slow = (quick: boolean) =>
      SampleSource.fromSamples([level(1), level(2), level(3)], {
        sampleComplete: async ({ id }) => {
          if (!quick) await new Promise((resolve) => setTimeout(resolve, 5))
          seen.push(`told ${id}`)
          return null
        },
        nextSamples: async () => {
          seen.push('asked')
          return null
        },
      })
    const { agent } = countingAgent()
    const noted = async (context: Parameters<typeof agent>[0]) => {
      seen.push(`runs ${context.sample.id}`)
      return agent(context)
    }
    const whole = await folder.run(fakeTask({ dataset: () => slow(true), agent: noted }))
    const killed = await folder.journalOf(whole.records, until(2))
    seen.length = 0
    await folder.run(fakeTask({ dataset: () => slow(false), agent: noted }), { resume: killed })
    const ended = whole.samples.slice(0, 2).map(({ id }) => `told ${id}`)
    const other = whole.samples[2]?.id
    expect(seen).toEqual([...ended, `runs ${other}`, `told ${other}`, 'asked'])
  })

  it('may wait in a callback for a sample that is not in the log', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const dataset = () =>
      SampleSource.fromSamples([level(1), level(2)], {
        sampleComplete: async ({ id }) => {
          if (id !== 'l1') return
          const [child] = enqueueSample(level(9))
          await child?.completed()
        },
      })
    const task = fakeTask({ dataset, agent, maxSamples: 1 })
    const whole = await folder.run(task)
    const killed = await folder.journalOf(whole.records, (record) =>
      record.type === 'sample' && record.id === 'l9' ? undefined : record,
    )
    calls.length = 0
    const { result } = await folder.run(task, { resume: killed })
    expect([result.evals[0]?.status, calls]).toEqual(['success', ['l9']])
  })

  it('gets samples again that the code of a finished sample had added', async () => {
    await using folder = await ResumeFolder.make()
    const calls: string[] = []
    const agent = async ({ sample: { id } }: { sample: { id?: string | number } }) => {
      calls.push(String(id))
      if (id === 'l1') enqueueSample([level(7), level(8)])
      return 'done'
    }
    const task = fakeTask({ dataset: () => SampleSource.fromSamples([level(1)]), agent, maxSamples: 1 })
    const whole = await folder.run(task)
    expect(calls).toEqual(['l1', 'l7', 'l8'])
    const killed = await folder.journalOf(whole.records, until(2))
    calls.length = 0
    const second = await folder.run(task, { resume: killed })
    expect(calls).toEqual(['l8'])
    expect(second.samples.map(({ id }) => id)).toEqual(['l1', 'l7', 'l8'])
    expect(second.warnings).toEqual([])
    const third = await folder.run(task, { resume: second.log })
    expect(third.log).toBe(second.log)
  })

  it('that makes other samples than before leaves the old ones in the log, marked and outside the figures', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const whole = await folder.run(fakeTask({ dataset: ladder(3).dataset, agent }))
    const killed = await folder.journalOf(whole.records, until(2))
    calls.length = 0
    const second = await folder.run(fakeTask({ dataset: ladder(1).dataset, agent }), { resume: killed })
    expect(calls).toEqual([])
    expect(second.result.evals[0]?.footer.totals).toMatchObject({ total: 1, success: 1 })
    expect(second.warnings.join()).toContain("count in no figure: 'l2'")
    expect(second.samples.map(({ id }) => id)).toEqual(['l1', 'l2'])
  })

  it('is not given the outcome of another sample that had the same id', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const task = (input: string) =>
      fakeTask({
        dataset: () =>
          SampleSource.fromSamples([level(1)], {
            sampleComplete: async ({ id }) => (id === 'l1' ? [sample(input)] : null),
          }),
        agent,
      })
    const whole = await folder.run(task('old'))
    const killed = await folder.journalOf(whole.records)
    calls.length = 0
    const second = await folder.run(task('new'), { resume: killed })
    expect(calls).toEqual(['2'])
    expect(second.samples.map(({ input }) => input)).toEqual(['level 1', 'new'])
    expect(second.warnings.join()).toContain("sample '2' is another one than in the resumed log")
  })

  it('has its end in the log before the eval is complete', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const task = fakeTask({ dataset: ladder(3).dataset, agent })
    const first = await folder.run(task)
    const again = await folder.run(task, { resume: first.log })
    expect([again.log, calls.length]).toEqual([first.log, 3])
  })
})

describe('a source that keeps its state', () => {
  const task = (told: string[], agent: Parameters<typeof fakeTask>[0]['agent']) =>
    fakeTask({ dataset: () => new Cursor(6, told), agent, failOnError: false, maxSamples: 1 })

  it('goes on from it: what came after is told again, in order, and nothing is lost or run twice', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent()
    const whole = await folder.run(task([], agent))
    expect(calls).toEqual(['l1', 'l2', 'l3', 'l4', 'l5', 'l6'])
    for (const ended of [1, 2, 3, 4, 5]) {
      const killed = await folder.killedAfter(task([], agent), ended)
      calls.length = 0
      const told: string[] = []
      const run = await folder.run(task(told, agent), { resume: killed })
      const all = whole.samples.map(({ id }) => String(id))
      expect(calls).toEqual(all.slice(ended))
      // The record that came last was in the log before the source had been told of it.
      expect(told).toEqual(['restored', ...all.slice(ended - 1)])
      expect(run.samples.map(({ id }) => id)).toEqual(all)
      expect(run.result.evals[0]?.footer).toMatchObject({
        status: 'success',
        totals: { total: 6, success: 6 },
      })
    }
  })

  it('is told that a sample which it knows to have failed has ended again', async () => {
    await using folder = await ResumeFolder.make()
    const { agent, calls } = countingAgent((id, time) => id === 'l3' && time === 1)
    const { log } = await folder.run(task([], agent))
    const told: string[] = []
    const run = await folder.run(task(told, agent), { resume: log })
    expect([calls.slice(6), told]).toEqual([['l3'], ['restored', 'l3 again']])
    expect(run.result.evals[0]?.footer.totals).toMatchObject({ total: 6, success: 6 })
  })

  it('that cannot be restored fails the eval, and says so', async () => {
    await using folder = await ResumeFolder.make()
    const { agent } = countingAgent((id) => id === 'l3')
    const { log } = await folder.run(task([], agent))
    const broken = () =>
      Object.assign(new Cursor(6, []), {
        restoreState: () => {
          throw new Error('another format')
        },
      })
    const run = await folder.run(fakeTask({ dataset: broken, agent, failOnError: false, maxSamples: 1 }), {
      resume: log,
    })
    expect(run.result.evals[0]?.footer.error?.message).toBe('restoreState: another format')
  })
})
