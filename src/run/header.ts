import { withoutSecrets } from '../agent/providers/load-model.ts'
import { type HeaderRecord, LOG_VERSION } from '../log/records/records.ts'
import type { ResolvedConfig } from '../sandbox/provider.ts'
import { DEFAULT_METRICS } from '../score/metrics.ts'
import { VERSION } from '../util/version.ts'
import { taskIdentity } from './identity.ts'
import { modelFacts } from './model-facts.ts'
import type { EvaluateOptions } from './options.ts'
import type { ResolvedTask } from './resolved-task.ts'

export interface HeaderParts {
  readonly run: string
  readonly eval: string
  readonly task: ResolvedTask
  readonly options: EvaluateOptions
  readonly maxSamples: number
  readonly maxSandboxes: number
  readonly sandboxes: readonly ResolvedConfig[]
}

/** What the log says of an eval before anything has run. */
export async function runHeader(parts: HeaderParts): Promise<HeaderRecord> {
  const { task, options } = parts
  const { definition } = task.task
  const identity = await taskIdentity(task)
  return {
    type: 'header',
    version: LOG_VERSION,
    belljar: VERSION,
    run: parts.run,
    eval: parts.eval,
    createdAt: new Date().toISOString(),
    ...(identity && { identity }),
    task: {
      name: task.name,
      version: definition.version,
      file: task.file,
      agent: task.agent.name || undefined,
      parameters: effectiveValues(task),
      metadata: definition.metadata && { ...definition.metadata },
      tags: definition.tags && [...definition.tags],
    },
    dataset: {
      kind: task.source ? 'source' : 'fixed',
      samples: task.seed.length,
      sampleIds: task.seed.map(({ id }) => id),
    },
    model: task.models.model?.name,
    ...modelFacts(task.models, options),
    scorers: task.scorers.map(({ name, scorer }) => ({
      name,
      metrics: (scorer.metrics ?? DEFAULT_METRICS).map((metric) => metric.name),
    })),
    epochs: task.epochs,
    config: {
      ...settings(parts),
      maxSamples: parts.maxSamples,
      maxSandboxes: parts.maxSandboxes,
      failOnError: task.policy.failOnError,
      allow: definition.allow && [...definition.allow],
      limits: { ...definition.limits, ...options.limits } as Record<string, number>,
      sandboxes: parts.sandboxes.map(({ kind, key, description, reach }) => ({
        kind,
        key,
        description,
        reach,
      })),
    },
    ...(options.set !== undefined && { set: options.set }),
  }
}

/** What else has a part in what a sample's record says. */
function settings({ task, options }: HeaderParts): Partial<HeaderRecord['config']> {
  const { definition, verifier } = task.task
  const { setupTimeoutMs, scoreTimeoutMs, limits, artifacts, maxArtifactBytes, agentProcesses } = definition
  const { maxOutputBytes, maxReadBytes, prices } = options
  const hasCostLimit = (options.limits?.cost ?? limits?.cost) !== undefined
  return {
    verifier: verifier && { ...verifier },
    artifacts: artifacts && [...artifacts],
    maxArtifactBytes,
    agentProcesses,
    scoreOnError: task.scoreOnError,
    setupTimeoutMs,
    scoreTimeoutMs,
    maxOutputBytes,
    maxReadBytes,
    prices: hasCostLimit ? { ...prices } : undefined,
    given: givenOptions(options),
  }
}

const GIVEN = [
  'agent',
  'modelBaseUrl',
  'sandbox',
  'epochs',
  'limit',
  'sampleIds',
  'failOnError',
  'continueOnFail',
  'retryOnError',
  'retryInfra',
  'scoreOnError',
  'limits',
  'prices',
  'config',
  'maxConnections',
  'cache',
  'maxSamples',
  'maxSandboxes',
  'maxStarts',
  'maxEngineCalls',
  'maxOutputBytes',
  'maxReadBytes',
  'noBuild',
  'transport',
  'serviceLogs',
  'removeImages',
  'reaper',
  'fsync',
] as const satisfies readonly (keyof EvaluateOptions)[]

/** What of a run's options is data: what a retry begins from. */
function givenOptions(options: EvaluateOptions): Record<string, unknown> {
  const plain = GIVEN.flatMap((name) => (isData(options[name]) ? [[name, options[name]]] : []))
  return { ...Object.fromEntries(plain), ...givenModels(options), ...givenSecrets(options) }
}

/** Those that were given by name: others are made in code. */
function givenModels({ model, modelArgs, modelRoles = {} }: EvaluateOptions): Record<string, unknown> {
  const roles = Object.entries(modelRoles).filter(([, one]) => typeof one === 'string')
  return {
    ...(typeof model === 'string' && { model }),
    ...(modelArgs && { modelArgs: withoutSecrets(modelArgs) }),
    ...(roles.length > 0 && { modelRoles: Object.fromEntries(roles) }),
  }
}

/** Names of variables: what they hold is to be masked again. */
function givenSecrets({ secrets = [] }: EvaluateOptions): Record<string, unknown> {
  const names = secrets.filter((secret) => typeof secret === 'string')
  return names.length > 0 ? { secrets: names } : {}
}

function isData(option: unknown): boolean {
  return option !== undefined && typeof option !== 'function'
}

function effectiveValues({ parameters, effective }: ResolvedTask): Record<string, unknown> {
  const reported = Object.entries(effective.records).map(([name, record]) => [name, record.effective])
  return { ...parameters, ...Object.fromEntries(reported) }
}
