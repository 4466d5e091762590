import { describe, expect, it } from 'vitest'
import { KilledChain, type KilledCommand, type KillPoint, seededRandom } from '../support/killed-chain.ts'
import { recordsOf } from '../support/log-records.ts'

const KILLS = 50
const SEED = Number(process.env.BELLJAR_SEED ?? 20_260_101)

const AGENT = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { defineTask, enqueueSample, includes, SampleSource } from 'belljar'
const dir = import.meta.dirname
/** Notes the call, takes a while, and fails the first time where its sample says so. */
const agent = async ({ sample: { id, metadata }, epoch }) => {
  appendFileSync(dir + '/calls', id + ' ' + epoch + '\\n')
  if (/^seed\\d$/.test(id)) enqueueSample(sample('x' + id, 1))
  await pause(10 + (id.length * 7 + epoch) % 20)
  const mark = dir + '/failed-' + id + '-' + epoch
  if (metadata.fails && !existsSync(mark)) {
    writeFileSync(mark, '')
    throw new Error('fails once')
  }
  return metadata.right ? 'right' : 'wrong'
}
const common = { name: 'killed', agent, scorers: [includes()], sandbox: false, maxSamples: 4, failOnError: false }
const sample = (id, number) => ({ id, input: id, target: 'right', metadata: { right: number % 3 === 0, fails: number % 10 === 7 } })
`

const FIXED_RUNS = 120
const FIXED = `${AGENT}
export default defineTask({ ...common, epochs: 2, dataset: Array.from({ length: 60 }, (_, index) => sample('s' + index, index)) })
`

/** 4 of a seed, 4 that their agents add, 16 in batches from a cursor, and to each of them two further levels from what it is told: 72 in all. */
const SOURCE_RUNS = 72
const SOURCE = `${AGENT}
class Growing extends SampleSource {
  next = 0
  told = {}
  initialSamples() { return [0, 1, 2, 3].map((number) => sample('seed' + number, number)) }
  async nextSamples() {
    if (this.next >= 16) return null
    const batch = [0, 1, 2, 3].map((step) => sample('b' + (this.next + step), this.next + step))
    this.next += 4
    return batch
  }
  async sampleComplete({ id, status }) {
    if (status !== 'success') return null
    this.told[id] = (this.told[id] ?? 0) + 1
    const level = id.split('.').length
    return level > 2 ? null : [sample(id + '.' + level, level)]
  }
  saveState() { return { next: this.next, told: this.told } }
  restoreState(state) { this.next = state.next; this.told = { ...state.told } }
}
export default defineTask({ ...common, dataset: () => new Growing() })
`

/** Most points lie among the samples; some while the process starts, takes over what there is, or ends. */
function killPoint(random: () => number): KillPoint {
  return random() < 0.3
    ? { after: 'start', ms: Math.round(random() * 1500) }
    : { after: 'first-event', ms: Math.round(random() * 300) }
}

/** Kills runs of a task until there were so many kills, each chain of them up to a complete log. Returns how many chains that took. */
async function killed(
  { task, command }: { task: string; command?: KilledCommand },
  whenComplete: (chain: KilledChain) => Promise<void>,
): Promise<number> {
  const random = seededRandom(SEED)
  let kills = 0
  for (let chains = 1; ; chains++) {
    await using chain = await KilledChain.begin(task, command)
    let isComplete = false
    while (!isComplete) {
      const wasKilled = await chain.step(kills < KILLS ? killPoint(random) : { after: 'never', ms: 0 })
      if (wasKilled) kills++
      isComplete = !wasKilled && (await chain.samples()).every(({ status }) => status === 'success')
    }
    await whenComplete(chain)
    if (kills >= KILLS) return chains
  }
}

async function outcome(chain: KilledChain) {
  const samples = await chain.samples()
  const records = await recordsOf((await chain.newestLog()) ?? '')
  const footer = records.at(-1)
  if (footer?.type !== 'footer') throw new Error('the log has no end')
  const right = samples.filter(({ metadata }) => metadata.right).length
  const metrics = footer.scores[0]?.metrics ?? []
  return {
    samples,
    records,
    footer,
    keys: new Set(samples.map(({ id, epoch }) => `${id} ${epoch}`)),
    right: right / samples.length,
    accuracy: metrics.find(({ name }) => name === 'accuracy')?.value ?? Number.NaN,
  }
}

describe(`${KILLS} kills (seed ${SEED})`, () => {
  it('of runs with a fixed data set lose and repeat no sample', async () => {
    await killed({ task: FIXED }, async (chain) => {
      const { samples, keys, footer, right, accuracy } = await outcome(chain)
      expect([samples.length, keys.size]).toEqual([FIXED_RUNS, FIXED_RUNS])
      expect(footer).toMatchObject({
        status: 'success',
        totals: { total: FIXED_RUNS, success: FIXED_RUNS, error: 0, cancelled: 0 },
      })
      expect(accuracy).toBeCloseTo(right, 10)
    })
  })

  it('of runs of a source that keeps its state lose and repeat no sample, and tell it of each once', async () => {
    await killed({ task: SOURCE }, async (chain) => {
      const { samples, keys, footer, records, right, accuracy } = await outcome(chain)
      expect([samples.length, keys.size]).toEqual([SOURCE_RUNS, SOURCE_RUNS])
      expect(footer).toMatchObject({
        status: 'success',
        sourceEnded: true,
        totals: { total: SOURCE_RUNS, success: SOURCE_RUNS, error: 0, cancelled: 0 },
      })
      expect(accuracy).toBeCloseTo(right, 10)
      const states = records.flatMap((record) => (record.type === 'source-state' ? [record.state] : []))
      const { told } = states.at(-1) as { told: Record<string, number> }
      expect(Object.keys(told).sort()).toEqual(samples.map(({ id }) => String(id)).sort())
      expect(Object.values(told).filter((times) => times !== 1)).toEqual([])
    })
  })

  it('of a set lose and repeat no sample, and leave the one log that holds all', async () => {
    const command = () => ['set', 'task.ts', '--retry-wait', '0']
    await killed({ task: FIXED, command }, async (chain) => {
      const { samples, keys, footer } = await outcome(chain)
      expect([samples.length, keys.size]).toEqual([FIXED_RUNS, FIXED_RUNS])
      expect(footer).toMatchObject({ status: 'success', totals: { success: FIXED_RUNS, error: 0 } })
      expect(await chain.logs()).toHaveLength(1)
    })
  })
})
