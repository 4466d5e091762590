import { battle } from './faults/battle.ts'
import { startEngine, stopEngine } from './faults/engine.ts'
import type { BenchRow } from './table.ts'

/**
 * Samples in a storm of faults, on an engine of the bench's own: what became of each, what is left, and what ran twice.
 * `--seed N` (default 1), `--samples N` (default 500).
 */
export async function run(flags: ReadonlyMap<string, number>): Promise<BenchRow[]> {
  const [seed, samples] = [flags.get('seed') ?? 1, flags.get('samples') ?? 500]
  const engine = await startEngine(`bench-faults-${seed}`)
  try {
    const tell = (message: string) => void process.stderr.write(`${message}\n`)
    const { faults, ...counts } = await battle({ engine, seed, samples, tell })
    const row = (metric: string, value: number, unit: string): BenchRow => ({
      bench: 'faults',
      case: `${samples} samples, seed ${seed}`,
      metric,
      value,
      unit,
    })
    return [
      row('ended right', counts.right, 'samples'),
      row('ended wrong', counts.wrong, 'samples'),
      row('given up after all attempts', counts.givenUp, 'samples'),
      row('hung', counts.hung, 'samples'),
      row('objects leaked', counts.leaked, 'objects'),
      row('started twice in one attempt', counts.startedTwice, 'commands'),
      row('belljar processes', counts.runs, 'runs'),
      ...[...faults].sort().map(([name, count]) => row(`fault: ${name}`, count, 'times')),
    ]
  } finally {
    await stopEngine(engine)
  }
}
