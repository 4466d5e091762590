import { createHash } from 'node:crypto'
import { ConfigError, FewShotPoolError } from '../errors.ts'
import type { Sample } from '../sample/sample.ts'
import type { DatasetFile } from './dataset-file.ts'
import { currentSetup, type TaskSetupContext } from './task-setup.ts'

type Grouped = Pick<Sample, 'metadata'>

export interface FewShotOptions {
  /** How many examples each sample is shown. */
  readonly n: number
  /** A field of the metadata, or a function: a sample is shown examples of its own group. */
  readonly by?: string | ((sample: Grouped) => string | number | boolean)
  /** Decides which of the pool, and in which order. Left out: the first of it, in its order. */
  readonly seed?: number | string
  /** What errors call the pool (default: its split or name, where it has one). */
  readonly split?: string
}

/** Examples that are sure to be there. */
export interface FewShots {
  /** The examples of a sample, always `n`. @throws FewShotPoolError for one of a group that was not known at setup */
  for(sample: Grouped): readonly Sample[]
}

/** The parameter that says how many examples there are. */
const PARAMETER = 'nShot'

/**
 * Draws the examples that prompts show, once, in the `setup` of a task: a pool that cannot supply them ends the run before it has begun. Every group of
 * the pool and of the samples that are run must have enough. Records the number as the effective `nShot`. `n` 0 needs no pool.
 * @throws FewShotPoolError, ConfigError
 */
export async function fewShot(
  pool: readonly Sample[] | DatasetFile | undefined,
  options: FewShotOptions,
): Promise<FewShots> {
  const context = currentSetup('fewShot()')
  const { n } = options
  if (!Number.isSafeInteger(n) || n < 0)
    throw new ConfigError(`expected a whole number of examples from 0 on, got ${n}`, { where: 'fewShot' })
  if (n === 0) {
    record(context, 0)
    return { for: () => [] }
  }
  const split = options.split ?? nameOf(pool)
  const groups = grouped(await samplesOf(pool, context), options)
  for (const sample of context.samples) {
    const group = groupOf(sample, options)
    if (!groups.has(group)) groups.set(group, [])
  }
  if (groups.size === 0) throw new FewShotPoolError({ asked: n, have: 0, split })
  const drawn = new Map([...groups].map(([group, samples]) => [group, draw(samples, options)]))
  const shots = {
    for: (sample: Grouped): readonly Sample[] => {
      const group = groupOf(sample, options)
      const examples = drawn.get(group)
      if (examples?.length === n) return examples
      throw new FewShotPoolError({ asked: n, have: examples?.length ?? 0, split, group })
    },
  }
  for (const [group, { length: have }] of drawn)
    if (have < n) throw new FewShotPoolError({ asked: n, have, split, group })
  record(context, n)
  return shots
}

function record({ parameters, effective }: TaskSetupContext, count: number): void {
  const names = Object.keys(parameters)
  if (names.length === 0 || names.includes(PARAMETER)) effective(PARAMETER, count)
}

async function samplesOf(
  pool: readonly Sample[] | DatasetFile | undefined,
  { directory }: TaskSetupContext,
): Promise<readonly Sample[]> {
  return pool && 'load' in pool ? pool.load(directory) : (pool ?? [])
}

function nameOf(pool: readonly Sample[] | DatasetFile | undefined): string | undefined {
  return pool && 'load' in pool ? (pool.info?.split ?? pool.info?.name) : undefined
}

/** undefined: there are no groups. */
function groupOf(sample: Grouped, { by }: FewShotOptions): string | undefined {
  if (by === undefined) return undefined
  const group = typeof by === 'function' ? by(sample) : sample.metadata?.[by]
  if (typeof group === 'string' || typeof group === 'number' || typeof group === 'boolean')
    return String(group)
  const what = typeof by === 'function' ? '`by` gives no group' : `no '${by}' in the metadata`
  throw new ConfigError(`${what} of sample ${JSON.stringify((sample as Sample).id ?? sample.metadata)}`, {
    where: 'fewShot',
  })
}

function grouped(pool: readonly Sample[], options: FewShotOptions): Map<string | undefined, Sample[]> {
  const groups = new Map<string | undefined, Sample[]>()
  for (const sample of pool) {
    const group = groupOf(sample, options)
    const samples = groups.get(group)
    if (samples) samples.push(sample)
    else groups.set(group, [sample])
  }
  return groups
}

/** By the hash of seed and id (or place): fewer examples are the first of more, and adding to the pool changes few of them. */
function draw(samples: readonly Sample[], { n, seed }: FewShotOptions): Sample[] {
  if (seed === undefined) return samples.slice(0, n)
  const keyed = samples.map((sample, index) => ({
    sample,
    key: createHash('sha256')
      .update(JSON.stringify([seed, sample.id ?? index]))
      .digest('hex'),
  }))
  keyed.sort((one, other) => (one.key < other.key ? -1 : 1))
  return keyed.slice(0, n).map(({ sample }) => sample)
}
