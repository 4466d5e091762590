import { z } from 'zod'

/** Version of the journal's lines. */
export const LOG_VERSION = 1

const sampleId = z.union([z.string(), z.number()])
const anything = z.record(z.string(), z.unknown())

const parameterSchema = z.object({
  declared: z.unknown().optional(),
  passed: z.unknown().optional(),
  /** Left out: a parameter without default that was not passed. */
  effective: z.unknown().optional(),
  source: z.enum(['declared', 'passed', 'derived']),
  verified: z.boolean(),
})

/** What a run really is. Written before the first sandbox and never changed; a log without it stays without it. */
export const taskIdentitySchema = z.object({
  /** `package/name`; the name alone where there is no package. */
  id: z.string(),
  version: z.string().optional(),
  status: z.enum(['stable', 'experimental', 'deprecated']).optional(),
  dataset: z.object({
    kind: z.enum(['fixed', 'source']),
    name: z.string().optional(),
    split: z.string().optional(),
    revision: z.string().optional(),
    /** Samples of the whole seed, also of what is not run. */
    count: z.number(),
    /** SHA-256 over the samples of the whole seed, with their ids. */
    digest: z.string(),
  }),
  scorers: z.array(z.string()),
  /** Specifications as the run, the task and what lies beside it name them. */
  sandbox: anything.optional(),
  parameters: z.record(z.string(), parameterSchema),
})
export type TaskIdentity = z.infer<typeof taskIdentitySchema>

/** An eval whose samples are in this log too. */
export const lineageSchema = z.object({
  run: z.string(),
  eval: z.string(),
  createdAt: z.iso.datetime(),
  belljar: z.string(),
  /** What the next one does otherwise that changes no result. */
  changed: z.array(z.string()).optional(),
})

/** How a model was made: no secrets. */
const modelFactsSchema = z.object({ baseUrl: z.string().optional(), args: anything.optional() })

const configSchema = z.object({
  maxSamples: z.number(),
  maxSandboxes: z.number(),
  /** A number below 1 is a share of all, from 1 on a count. */
  failOnError: z.union([z.boolean(), z.number()]),
  /** What the task allows that is refused otherwise. */
  allow: z.array(z.string()).optional(),
  limits: z.record(z.string(), z.number()),
  sandboxes: z.array(
    z.object({ kind: z.string(), key: z.string(), description: z.string(), reach: z.string() }),
  ),
  /** Specification of the sandbox in which the scorers act, where it is not that of the agent. */
  verifier: anything.optional(),
  artifacts: z.array(z.string()).optional(),
  maxArtifactBytes: z.number().optional(),
  agentProcesses: z.enum(['keep', 'kill']).optional(),
  scoreOnError: z.boolean().optional(),
  setupTimeoutMs: z.number().optional(),
  scoreTimeoutMs: z.number().optional(),
  maxOutputBytes: z.number().optional(),
  maxReadBytes: z.number().optional(),
  /** Where a cost limit counts with them. */
  prices: anything.optional(),
  /** Options of the run as they were given: what a retry begins from. */
  given: anything.optional(),
})

export const headerSchema = z.object({
  type: z.literal('header'),
  version: z.literal(LOG_VERSION),
  belljar: z.string(),
  run: z.string(),
  eval: z.string(),
  createdAt: z.iso.datetime(),
  /** One that makes no sense is none. */
  identity: taskIdentitySchema.optional().catch(undefined),
  task: z.object({
    name: z.string(),
    version: z.string().optional(),
    file: z.string().optional(),
    /** Name of the function that is the agent. */
    agent: z.string().optional(),
    parameters: anything,
    metadata: anything.optional(),
    tags: z.array(z.string()).optional(),
  }),
  dataset: z.object({
    kind: z.enum(['fixed', 'source']),
    /** Samples of the seed. */
    samples: z.number(),
    sampleIds: z.array(sampleId),
  }),
  model: z.string().optional(),
  modelFacts: modelFactsSchema.optional(),
  /** Models of roles, such as `grader`. */
  modelRoles: z.record(z.string(), modelFactsSchema.extend({ model: z.string() })).optional(),
  /** Settings of model calls, as GenerateConfig names them, and `maxConnections`. */
  generateConfig: anything.optional(),
  scorers: z.array(z.object({ name: z.string(), metrics: z.array(z.string()) })),
  epochs: z.number(),
  config: configSchema,
  /** Evals that this one resumes, first to last. */
  lineage: z.array(lineageSchema).optional(),
  /** How often, by what and when the samples of this log were scored again. */
  rescored: z
    .array(
      z.object({
        at: z.iso.datetime(),
        belljar: z.string(),
        /** Name of the log whose samples they are. */
        from: z.string(),
        action: z.enum(['append', 'overwrite']),
        scorers: z.array(z.string()),
      }),
    )
    .optional(),
  /** Of the set that it is part of. */
  set: z.string().optional(),
})
export type HeaderRecord = z.infer<typeof headerSchema>
