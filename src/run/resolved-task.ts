import type { Agent } from '../agent/agent.ts'
import type { RunModels } from '../agent/model-meter.ts'
import { namedAgent } from '../agent/named-agent.ts'
import { BelljarError, ConfigError, errorMessage } from '../errors.ts'
import { parseSample, type Sample } from '../sample/sample.ts'
import { type SampleId, SampleIds } from '../sample/sample-id.ts'
import { discoverDockerConfig } from '../sandbox/docker/discover.ts'
import { type Reducer, reducerOf } from '../score/reduce.ts'
import { type NamedScorer, namedScorers } from '../score/scorer-names.ts'
import { isDatasetFile } from '../task/dataset-file.ts'
import type { LoadedTask } from '../task/load-tasks.ts'
import { SampleSource } from '../task/sample-source.ts'
import type { Dataset, TaskDefinition } from '../task/task.ts'
import { EffectiveParameters } from '../task/task-parameters.ts'
import { registrationOf } from '../task/task-registration.ts'
import { insideSetup } from '../task/task-setup.ts'
import type { SandboxChoice } from './config/sandbox-choice.ts'
import { SampleSelection } from './dispatch/sample-selection.ts'
import { checkFailOnError, type ErrorPolicyOptions } from './error-policy.ts'
import { datasetDigest } from './identity.ts'
import type { EvaluateOptions } from './options.ts'
import { taskModels } from './task-models.ts'

/** A task with its seed read, its ids given and its options settled: what one eval runs. */
export interface ResolvedTask extends LoadedTask {
  /** Of the whole seed, also of what is not run. */
  readonly count: number
  readonly digest: string
  readonly effective: EffectiveParameters
  readonly source: SampleSource | undefined
  /** Samples with their ids, in plan order; emptied once they are planned. */
  readonly seed: SeedSample[]
  readonly selection: SampleSelection
  readonly agent: Agent
  readonly ids: SampleIds
  readonly scorers: readonly NamedScorer[]
  readonly models: Omit<RunModels, 'calls'>
  readonly epochs: number
  /** undefined: the mean, because nothing was asked for. */
  readonly reducers: readonly Reducer[] | undefined
  readonly policy: ErrorPolicyOptions
  readonly scoreOnError: boolean
  readonly sandbox: SandboxChoice
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
  const { earlyStopping } = definition
  if (source && earlyStopping && !earlyStopping.samplesAdded)
    throw new ConfigError(
      `early stopping by '${earlyStopping.name}' needs samplesAdded() where samples are made while the task runs`,
      { where },
    )
  const { seed: whole, ids } = numberedSeed(given, { name: loaded.name, source, options })
  const selection = new SampleSelection(loaded.name, options)
  const seed = selection.ofSeed(whole)
  const records = registrationOf(loaded.task)?.parameters
  const epochs = options.epochs ?? definition.epochs ?? 1
  return {
    ...loaded,
    count: whole.length,
    digest: datasetDigest(whole, loaded.directory),
    effective: new EffectiveParameters(records ?? {}, records !== undefined),
    source,
    ids,
    seed,
    selection,
    agent: namedAgent(options.agent ?? loaded.task.agent, 'agent'),
    scorers: namedScorers(definition.scorers ?? []),
    models: await taskModels(definition, options),
    epochs,
    reducers: reducersOf(definition.reducers, epochs, where),
    policy: errorPolicy(definition, options, source !== undefined),
    scoreOnError: options.scoreOnError ?? definition.scoreOnError ?? false,
    sandbox: await sandboxChoice(loaded, options),
  }
}

interface SeedOptions {
  readonly name: string
  readonly source: SampleSource | undefined
  readonly options: EvaluateOptions
}

/** All ids of the seed are taken, also of what is not run. */
function numberedSeed(
  given: readonly Sample[],
  { name, source, options }: SeedOptions,
): Pick<ResolvedTask, 'seed' | 'ids'> {
  const where = `task '${name}'`
  if (source && typeof options.limit === 'object')
    throw new ConfigError(
      'limit: a range of positions means nothing for a sample source, whose samples are made while it runs; give a number',
      { where },
    )
  const samples = given.map((sample, index) => parseSample(sample, `${where}, sample ${index + 1}`))
  const ids = new SampleIds()
  const seedIds = ids.takeSeed(samples, source ? 'the seed' : 'the data set')
  const seed = samples.map((sample, index) => ({
    id: seedIds[index] ?? index + 1,
    sample,
    added: given[index] ?? sample,
  }))
  return { seed, ids }
}

/** Runs the task's own setup. @throws BelljarError; ConfigError for anything else that it throws */
export async function setUp(resolved: ResolvedTask): Promise<void> {
  const { name, seed, task, parameters, directory, effective } = resolved
  const { setup } = task.definition
  if (!setup) return
  const samples = seed.map(({ sample }) => sample)
  const report = (parameter: string, value: unknown) => effective.report(parameter, value)
  const context = { parameters, directory, samples, effective: report }
  try {
    await insideSetup(context, () => setup(context))
  } catch (error) {
    if (error instanceof BelljarError) throw error
    throw new ConfigError(`its setup failed: ${errorMessage(error)}`, {
      where: `task '${name}'`,
      cause: error,
    })
  }
}

function reducersOf(
  given: TaskDefinition['reducers'],
  epochs: number,
  where: string,
): readonly Reducer[] | undefined {
  const reducers = given?.flatMap((reducer) => reducerOf(reducer) ?? [])
  const tooMany = reducers?.find((reducer) => (reducer.epochs ?? 1) > epochs)
  if (tooMany)
    throw new ConfigError(`reducer '${tooMany.name}' needs ${tooMany.epochs} epochs, there are ${epochs}`, {
      where,
    })
  return reducers
}

function errorPolicy(
  definition: TaskDefinition,
  options: EvaluateOptions,
  hasSource: boolean,
): ErrorPolicyOptions {
  const failOnError = options.failOnError ?? definition.failOnError ?? true
  checkFailOnError(failOnError)
  return {
    failOnError,
    continueOnFail: options.continueOnFail ?? definition.continueOnFail ?? false,
    retryOnError: options.retryOnError ?? definition.retryOnError ?? 0,
    retryInfra: options.retryInfra ?? definition.retryInfra ?? 0,
    hasSource,
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
