import { z } from 'zod'
import { evalEventSchema } from './events.ts'
import {
  chatMessageSchema,
  evalErrorSchema,
  limitTypeSchema,
  modelOutputSchema,
  sampleIdSchema,
  scoreSchema,
  timestampSchema,
  usageSchema,
} from './values.ts'

/** The members of an `.eval` file. Format: inspect_ai/log/_log.py and inspect_ai/log/_recorders/eval.py (0.3.285). */

const text = z.string()
const anything = z.record(z.string(), z.unknown())
const usages = z.record(text, usageSchema)

/** A number, or what stands for one that JSON does not have. */
const anyNumber = z.union([z.number(), z.enum(['NaN', 'Infinity', '-Infinity'])])

export const evalSpecSchema = z.looseObject({
  eval_id: text.optional(),
  run_id: text.optional(),
  created: timestampSchema,
  task: text,
  task_id: text.optional(),
  task_version: z.union([z.int(), text]).optional(),
  task_file: text.nullish(),
  task_args: anything.optional(),
  dataset: z.looseObject({
    name: text.nullish(),
    samples: z.int().nullish(),
    sample_ids: z.array(sampleIdSchema).nullish(),
    shuffled: z.boolean().nullish(),
  }),
  model: text,
  config: z.looseObject({
    epochs: z.int().nullish(),
    max_samples: z.int().nullish(),
    max_sandboxes: z.int().nullish(),
    fail_on_error: z.union([z.boolean(), z.number()]).nullish(),
    message_limit: z.int().nullish(),
    token_limit: z.int().nullish(),
    turn_limit: z.int().nullish(),
    time_limit: z.int().nullish(),
    working_limit: z.int().nullish(),
  }),
  packages: z.record(text, text).optional(),
  scorers: z
    .array(z.looseObject({ name: text, metrics: z.union([z.array(z.unknown()), anything]).nullish() }))
    .nullish(),
  tags: z.array(text).nullish(),
  metadata: anything.nullish(),
})

const planSchema = z.looseObject({
  name: text.optional(),
  steps: z.array(z.looseObject({ solver: text, params: anything.optional() })).optional(),
  config: anything.optional(),
})

const metricSchema = z.looseObject({ name: text, value: anyNumber })

export const resultsSchema = z.looseObject({
  total_samples: z.int(),
  completed_samples: z.int(),
  scores: z.array(
    z.looseObject({
      name: text,
      scorer: text,
      reducer: text.nullish(),
      scored_samples: z.int().nullish(),
      unscored_samples: z.int().nullish(),
      metrics: z.record(text, metricSchema),
    }),
  ),
})

export const startSchema = z.looseObject({ version: z.literal(2), eval: evalSpecSchema, plan: planSchema })

export const headerMemberSchema = z.looseObject({
  version: z.int().default(2),
  status: z.enum(['started', 'success', 'cancelled', 'error']).default('started'),
  eval: evalSpecSchema,
  plan: planSchema.optional(),
  results: resultsSchema.nullish(),
  stats: z
    .looseObject({
      started_at: text.optional(),
      completed_at: text.optional(),
      model_usage: usages.optional(),
      role_usage: usages.optional(),
    })
    .optional(),
  error: evalErrorSchema.nullish(),
  belljar: z.unknown().optional(),
})
export type HeaderMember = z.infer<typeof headerMemberSchema>

const sampleBase = {
  id: sampleIdSchema,
  epoch: z.int(),
  input: z.union([text, z.array(chatMessageSchema)]),
  choices: z.array(text).nullish(),
  target: z.union([text, z.array(text)]),
  metadata: anything.optional(),
  scores: z.record(text, scoreSchema).nullish(),
  model_usage: usages.optional(),
  role_usage: usages.optional(),
  started_at: text.nullish(),
  completed_at: text.nullish(),
  total_time: z.number().nullish(),
  working_time: z.number().nullish(),
  uuid: text.nullish(),
  belljar: z.unknown().optional(),
}

export const sampleMemberSchema = z.looseObject({
  ...sampleBase,
  sandbox: z.unknown().optional(),
  files: z.array(text).nullish(),
  setup: text.nullish(),
  messages: z.array(chatMessageSchema).optional(),
  output: modelOutputSchema.optional(),
  store: anything.optional(),
  events: z.array(evalEventSchema).optional(),
  error: evalErrorSchema.nullish(),
  attachments: z.record(text, text).optional(),
  events_data: z.looseObject({ messages: z.array(chatMessageSchema), calls: z.array(z.unknown()) }).nullish(),
  limit: z.looseObject({ type: limitTypeSchema, limit: z.number() }).nullish(),
})
export type SampleMember = z.infer<typeof sampleMemberSchema>

export const summarySchema = z.looseObject({
  ...sampleBase,
  error: text.nullish(),
  limit: text.nullish(),
  retries: z.int().nullish(),
  completed: z.boolean().optional(),
  message_count: z.int().nullish(),
})
export type SummaryEntry = z.infer<typeof summarySchema>
export const summariesSchema = z.array(summarySchema)

export const reductionsSchema = z.array(
  z.looseObject({
    scorer: text,
    reducer: text.nullish(),
    samples: z.array(z.looseObject({ ...scoreSchema.shape, sample_id: sampleIdSchema.nullish() })),
  }),
)
