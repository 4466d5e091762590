import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evaluate } from '../src/run/evaluate.ts'
import type { Sample } from '../src/sample/sample.ts'
import { FakeProvider } from '../src/sandbox/fake/fake-provider.ts'
import { SampleSource } from '../src/task/sample-source.ts'
import { defineTask } from '../src/task/task.ts'
import type { BenchRow } from './table.ts'

const SIZES = [1_000, 4_000, 10_000]
const BATCH = 1_000
const CHAINS = 8
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

/** Every sample is made from one that has ended. */
function chain(total: number): SampleSource {
  let given = CHAINS
  const seed = Array.from({ length: CHAINS }, (_, index) => made(index))
  return SampleSource.fromSamples(seed, {
    sampleComplete: async () => (given < total ? [made(given++)] : null),
  })
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

async function measure(name: string, dataset: SampleSource, size: number): Promise<BenchRow[]> {
  const logDir = await mkdtemp(join(tmpdir(), 'belljar-bench-'))
  const provider = new QuietProvider()
  try {
    using memory = peakMemory()
    const begin = performance.now()
    const { evals } = await evaluate(
      defineTask({ name: 'dispatch', dataset, agent: 'nop', sandbox: { kind: 'fake' } }),
      { logDir, providers: { fake: async () => provider }, maxSandboxes: 16 },
    )
    const spent = performance.now() - begin
    const [result] = evals
    if (result?.footer.totals.success !== size)
      throw new Error(`${name}: not all of ${size} samples succeeded`)
    const log = (await stat(result.log)).size
    const row = (metric: string, value: number, unit: string): BenchRow => ({
      bench: 'dispatch',
      case: `${name}, ${size} samples`,
      metric,
      value,
      unit,
    })
    return [
      row('time per sample', (spent / size) * 1000, 'us'),
      row('peak resident size, over what was there', memory.rss / MIB, 'MiB'),
      row('peak heap, over what was there', memory.heap / MIB, 'MiB'),
      row('log per sample', log / size, 'B'),
    ]
  } finally {
    await rm(logDir, { recursive: true, force: true })
  }
}

/** Dynamic samples with a sandbox in memory, an agent that does nothing, and the log: what belljar itself costs. */
export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  await measure('warm-up', bulk(BATCH), BATCH)
  for (const [name, source] of [
    ['bulk', bulk],
    ['chain', chain],
  ] as const)
    for (const size of SIZES) rows.push(...(await measure(name, source(size), size)))
  return rows
}
