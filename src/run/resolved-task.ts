import { ConfigError } from '../errors.ts'
import { parseSample, type Sample } from '../sample/sample.ts'
import { type SampleId, SampleIds } from '../sample/sample-id.ts'
import { discoverDockerConfig } from '../sandbox/docker/discover.ts'
import type { Scorer } from '../score/scorer.ts'
import { uniqueScorerNames } from '../score/scorer-names.ts'
import type { LoadedTask } from '../task/load-tasks.ts'
import { SampleSource } from '../task/sample-source.ts'
import { type Dataset, isDatasetFile } from '../task/task.ts'
import type { SandboxChoice } from './config/sandbox-choice.ts'
import type { EvaluateOptions } from './options.ts'

/** A task with its seed read, its ids given and its options settled: what one eval runs. */
export interface ResolvedTask extends LoadedTask {
  readonly source: SampleSource | undefined
  /** Samples with their ids, in plan order. */
  readonly seed: readonly SeedSample[]
  readonly ids: SampleIds
  readonly scorers: readonly NamedScorer[]
  readonly epochs: number
  readonly failOnError: boolean
  readonly sandbox: SandboxChoice
}

/** A scorer under the name that its scores have in this eval. */
export interface NamedScorer {
  readonly name: string
  readonly scorer: Scorer
}

export interface SeedSample {
  readonly id: SampleId
  readonly sample: Sample
  readonly added: Sample
}

/** @throws ConfigError for an invalid or empty data set, DuplicateSampleError */
export async function resolveTask(loaded: LoadedTask, options: EvaluateOptions): Promise<ResolvedTask> {
  const { definition } = loaded.task
  const where = `task '${loaded.name}'`
  const source = sourceOf(definition.dataset, where)
  const given = source ? source.initialSamples() : await fixedSamples(definition.dataset, loaded.directory)
  if (!source && given.length === 0) throw new ConfigError('the data set is empty', { where })
  const samples = given.map((sample, index) => parseSample(sample, `${where}, sample ${index + 1}`))
  const ids = new SampleIds()
  const seedIds = ids.takeSeed(samples, source ? 'the seed' : 'the data set')
  return {
    ...loaded,
    source,
    ids,
    seed: samples.map((sample, index) => ({
      id: seedIds[index] ?? index + 1,
      sample,
      added: given[index] ?? sample,
    })),
    scorers: namedScorers(definition.scorers ?? []),
    epochs: options.epochs ?? definition.epochs ?? 1,
    failOnError: options.failOnError ?? definition.failOnError ?? true,
    sandbox: await sandboxChoice(loaded, options),
  }
}

function sourceOf(dataset: Dataset, where: string): SampleSource | undefined {
  const source = typeof dataset === 'function' ? dataset() : dataset
  if (source instanceof SampleSource) return source
  if (typeof dataset === 'function')
    throw new ConfigError('the dataset function must return a SampleSource', { where })
  return undefined
}

async function fixedSamples(dataset: Dataset, directory: string): Promise<readonly Sample[]> {
  if (isDatasetFile(dataset)) return dataset.load(directory)
  return Array.isArray(dataset) ? dataset : []
}

async function sandboxChoice(loaded: LoadedTask, options: EvaluateOptions): Promise<SandboxChoice> {
  const config = loaded.file === undefined ? undefined : await discoverDockerConfig(loaded.directory)
  return {
    run: options.sandbox,
    task: loaded.task.sandbox,
    discovered: config && { kind: 'docker', config },
  }
}

function namedScorers(scorers: readonly Scorer[]): NamedScorer[] {
  const names = uniqueScorerNames(scorers)
  return scorers.map((scorer, index) => ({ name: names[index] ?? scorer.name, scorer }))
}
