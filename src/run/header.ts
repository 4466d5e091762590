import { type HeaderRecord, LOG_VERSION } from '../log/records.ts'
import type { ResolvedConfig } from '../sandbox/provider.ts'
import { DEFAULT_METRICS } from '../score/metrics.ts'
import { VERSION } from '../util/version.ts'
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
export function runHeader(parts: HeaderParts): HeaderRecord {
  const { task, options } = parts
  const { definition } = task.task
  return {
    type: 'header',
    version: LOG_VERSION,
    belljar: VERSION,
    run: parts.run,
    eval: parts.eval,
    createdAt: new Date().toISOString(),
    task: {
      name: task.name,
      version: definition.version,
      file: task.file,
      parameters: { ...task.parameters },
      metadata: definition.metadata && { ...definition.metadata },
      tags: definition.tags && [...definition.tags],
    },
    dataset: {
      kind: task.source ? 'source' : 'fixed',
      samples: task.seed.length,
      sampleIds: task.seed.map(({ id }) => id),
    },
    model: options.model?.name,
    scorers: task.scorers.map(({ name, scorer }) => ({
      name,
      metrics: (scorer.metrics ?? DEFAULT_METRICS).map((metric) => metric.name),
    })),
    epochs: task.epochs,
    config: {
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
  }
}
