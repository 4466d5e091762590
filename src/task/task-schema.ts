import { z } from 'zod'
import type { Agent } from '../agent/agent.ts'
import { generateConfigSchema, modelSchema } from '../agent/generate-config.ts'
import { ConfigError } from '../errors.ts'
import { artifactsSchema } from '../sample/sample.ts'
import { isSandboxAllowance, SANDBOX_ALLOWANCES } from '../sandbox/policy/allowances.ts'
import { isReducer, type Reducer, type ReducerName } from '../score/reduce.ts'
import type { Scorer } from '../score/scorer.ts'
import { isDatasetFile } from './dataset-file.ts'
import { type EarlyStopping, isEarlyStopping } from './early-stopping.ts'
import { SampleSource } from './sample-source.ts'
import type { Dataset, TaskDefinition } from './task.ts'
import { TASK_STATUSES } from './task-registration.ts'
import type { TaskSetup } from './task-setup.ts'

const OWN_ALLOWANCES = ['added-paths', 'added-urls'] as const

function isAllowance(name: string): boolean {
  return OWN_ALLOWANCES.some((known) => known === name) || isSandboxAllowance(name)
}

function unknownAllowance({ input }: { input?: unknown }): string {
  return `unknown name '${String(input)}'; known are ${[...OWN_ALLOWANCES, ...SANDBOX_ALLOWANCES].join(', ')}`
}

const positive = z.number().int().positive()

const plainFields = z.strictObject({
  name: z.string().regex(/\S/).optional(),
  version: z.string().optional(),
  aliases: z.array(z.string()).optional(),
  status: z.enum(TASK_STATUSES).optional(),
  dataset: z.custom<Dataset>(
    isDataset,
    'expected an array of samples, fileDataset(...), a SampleSource or a function that makes one',
  ),
  agent: z.custom<Agent | string>(
    (value) => typeof value === 'function' || typeof value === 'string',
    'expected an agent',
  ),
  scorers: z.array(z.custom<Scorer>(isScorer, 'expected a scorer')).optional(),
  model: modelSchema.optional(),
  modelRoles: z.record(z.string(), modelSchema).optional(),
  config: generateConfigSchema.optional(),
  sandbox: z.union([z.literal(false), z.string(), z.looseObject({ kind: z.string() })]).optional(),
  epochs: positive.optional(),
  maxSamples: positive.optional(),
  limits: z
    .strictObject({
      timeMs: positive,
      workingMs: positive,
      messages: positive,
      turns: positive,
      tokens: positive,
      outputTokens: positive,
      cost: z.number().positive(),
    })
    .partial()
    .optional(),
  reducers: z
    .array(z.custom<ReducerName | Reducer>(isReducer, 'expected a reducer or its name, such as `pass_at_2`'))
    .min(1)
    .optional(),
  failOnError: z.union([z.boolean(), z.number()]).optional(),
  continueOnFail: z.boolean().optional(),
  retryOnError: z.number().int().nonnegative().optional(),
  retryInfra: z.number().int().nonnegative().optional(),
  scoreOnError: z.boolean().optional(),
  sourceErrors: z.enum(['eval', 'sample']).optional(),
  earlyStopping: z.custom<EarlyStopping>(isEarlyStopping, 'expected an object with `schedule`').optional(),
  setupTimeoutMs: positive.optional(),
  scoreTimeoutMs: positive.optional(),
  prefetch: z.number().int().nonnegative().optional(),
  artifacts: artifactsSchema.optional(),
  maxArtifactBytes: positive.optional(),
  verifier: z.union([z.string(), z.looseObject({ kind: z.string() })]).optional(),
  agentProcesses: z.enum(['keep', 'kill']).optional(),
  allow: z.array(z.string().refine(isAllowance, { error: unknownAllowance })).optional(),
  secrets: z.array(z.union([z.string(), z.strictObject({ name: z.string(), value: z.string() })])).optional(),
  setup: z.custom<TaskSetup>((value) => typeof value === 'function', 'expected a function').optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  tags: z.array(z.string()).optional(),
})

/** @throws ConfigError that names the field at fault */
export function checkDefinition(definition: TaskDefinition): void {
  const parsed = plainFields.safeParse(definition)
  if (parsed.success) return
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''}${issue.message}`,
  )
  throw new ConfigError(problems.join('; '), { where: `task '${definition?.name ?? 'without a name'}'` })
}

function isDataset(value: unknown): boolean {
  return (
    Array.isArray(value) ||
    value instanceof SampleSource ||
    typeof value === 'function' ||
    isDatasetFile(value)
  )
}

function isScorer(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    'score' in value &&
    typeof value.score === 'function'
  )
}
