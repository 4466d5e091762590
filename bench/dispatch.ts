import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '../src/agent/agent.ts'
import { evaluate } from '../src/run/evaluate.ts'
import type { Sample } from '../src/sample/sample.ts'
import { FakeProvider } from '../src/sandbox/fake/fake-provider.ts'
import { enqueueSample } from '../src/task/enqueue.ts'
import { SampleSource } from '../src/task/sample-source.ts'
import { defineTask } from '../src/task/task.ts'
import { type BenchRow, withFloor } from './table.ts'

const SIZES = [1_000, 10_000, 100_000]
const BATCH = 1_000
const ENQUEUERS = 64
/** About what the journal grows by for a sample. */
const JOURNAL_BYTES = 800
const SYNCS = 200
const MEMORY_EVERY_MS = 20
const MIB = 1024 ** 2

/** A sandbox provider that keeps no list of what was called, so that memory is the run's own. */
class QuietProvider extends FakeProvider {
  override async remove(...parts: Parameters<FakeProvider['remove']>) {
    const report = await super.remove(...parts)
    this.calls.length = 0
    return report
  }
}

const made = (index: number): Sample => ({ input: `sample ${index}`, metadata: { index } })

/** Samples come in batches, from nextSamples alone. */
function bulk(total: number): SampleSource {
  let given = 0
  return SampleSource.fromSamples([], {
    nextSamples: async () => {
      if (given === total) return null
      const size = Math.min(BATCH, total - given)
      given += size
      return Array.from({ length: size }, (_, index) => made(given - size + index))
    },
  })
}

/** Every sample is made from the one before it, which has ended. */
function chain(total: number): SampleSource {
  let given = 1
  return SampleSource.fromSamples([made(0)], {
    sampleComplete: async () => (given < total ? [made(given++)] : null),
  })
}

/** The source is asked for every sample. */
function single(total: number): SampleSource {
  let given = 0
  return SampleSource.fromSamples([], { nextSamples: async () => (given < total ? [made(given++)] : null) })
}

/** So many samples whose agents add all others at once, one by one. */
function enqueuers(total: number): Workload {
  const seed = Array.from({ length: ENQUEUERS }, (_, index) => ({ ...made(index), metadata: { adds: true } }))
  let given = ENQUEUERS
  const agent: Agent = async ({ sample }) => {
    while (sample.metadata?.adds && given < total) {
      enqueueSample(made(given++))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { dataset: SampleSource.fromSamples(seed), agent, maxSamples: 2 * ENQUEUERS }
}

interface Workload {
  readonly dataset: SampleSource
  readonly agent?: Agent
  readonly maxSamples?: number
}

interface Case {
  readonly name: string
  readonly make: (total: number) => Workload
  /** Whether each sample waits until the one before is on the disk. */
  readonly isSerial?: boolean
  readonly sandbox?: false | { readonly kind: string }
  readonly fsync?: 'never'
}

const BULK: Case = { name: 'bulk', make: (total) => ({ dataset: bulk(total) }) }

const CASES: readonly Case[] = [
  BULK,
  { name: 'chain', make: (total) => ({ dataset: chain(total) }), isSerial: true },
  { name: 'one at a time', make: (total) => ({ dataset: single(total) }), isSerial: true },
  { name: `${ENQUEUERS} enqueuers`, make: enqueuers },
]

/** Microseconds to append what a sample writes to a file and to wait for the disk, one after the other. */
async function syncedAppend(directory: string): Promise<number> {
  const file = await open(join(directory, 'floor'), 'a')
  const bytes = Buffer.alloc(JOURNAL_BYTES, 'x')
  const begin = performance.now()
  for (let count = 0; count < SYNCS; count++) {
    await file.write(bytes)
    await file.datasync()
  }
  const spent = performance.now() - begin
  await file.close()
  return (spent / SYNCS) * 1000
}

interface Memory extends Disposable {
  readonly rss: number
  readonly heap: number
}

/** The highest resident size and heap above what there was at first. With --expose-gc the heap is what is really in use. */
function peakMemory(): Memory {
  const collect = globalThis.gc
  collect?.()
  const before = process.memoryUsage()
  const peak = { rss: 0, heap: 0 }
  let looks = 0
  const look = () => {
    if (looks++ % 25 === 0) collect?.()
    const now = process.memoryUsage()
    peak.rss = Math.max(peak.rss, now.rss - before.rss)
    if (!collect || looks % 25 === 1) peak.heap = Math.max(peak.heap, now.heapUsed - before.heapUsed)
  }
  const timer = setInterval(look, MEMORY_EVERY_MS)
  return {
    get rss() {
      return peak.rss
    },
    get heap() {
      return peak.heap
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

async function measure(one: Case, size: number): Promise<BenchRow[]> {
  const { name, make, isSerial, sandbox = false, fsync } = one
  const logDir = await mkdtemp(join(tmpdir(), 'belljar-bench-'))
  const provider = new QuietProvider()
  const { dataset, agent = 'nop', maxSamples } = make(size)
  try {
    const floor = isSerial ? await syncedAppend(logDir) : undefined
    using memory = peakMemory()
    const begin = performance.now()
    const cpu = process.cpuUsage()
    const { evals } = await evaluate(defineTask({ name: 'dispatch', dataset, agent, maxSamples, sandbox }), {
      logDir,
      fsync,
      providers: { fake: async () => provider },
      maxSandboxes: 16,
    })
    const spent = performance.now() - begin
    const { user, system } = process.cpuUsage(cpu)
    const [result] = evals
    if (result?.footer.totals.success !== size)
      throw new Error(`${name}: not all of ${size} samples succeeded`)
    const row = (metric: string, value: number, unit: string): BenchRow => ({
      bench: 'dispatch',
      case: `${name}, ${size} samples`,
      metric,
      value,
      unit,
    })
    const time = row('time per sample', (spent / size) * 1000, 'us')
    return [
      floor === undefined ? time : withFloor(time, floor),
      row('processor time per sample', (user + system) / size, 'us'),
      row('peak resident size, over what was there', memory.rss / MIB, 'MiB'),
      row('peak heap, over what was there', memory.heap / MIB, 'MiB'),
      row('log per sample', (await stat(result.log)).size / size, 'B'),
    ]
  } finally {
    await rm(logDir, { recursive: true, force: true })
  }
}

/**
 * Samples that are made while the task runs, an agent that does nothing, and the log as it is by default: what belljar itself costs. The
 * floor of samples that wait for each other is the disk: the same bytes, appended and synced.
 */
export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  await measure(BULK, BATCH)
  for (const one of CASES) for (const size of SIZES) rows.push(...(await measure(one, size)))
  const inSandbox: Case = { ...BULK, name: 'bulk, sandboxes in memory', sandbox: { kind: 'fake' } }
  rows.push(...(await measure(inSandbox, 10_000)))
  const unsynced: Case = {
    name: "chain, fsync 'never'",
    make: (total) => ({ dataset: chain(total) }),
    fsync: 'never',
  }
  rows.push(...(await measure(unsynced, 1_000)))
  return rows
}
