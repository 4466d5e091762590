import { z } from 'zod'
import type { Message } from '../../agent/messages.ts'
import type { TranscriptEvent } from '../../agent/transcript.ts'
import type { ContentPart } from '../../sample/content.ts'
import type { Sample } from '../../sample/sample.ts'
import type { Score } from '../../score/scorer.ts'
import { artifactRecordSchema } from './artifact-record.ts'
import { headerSchema } from './header-record.ts'

export { type HeaderRecord, headerSchema, LOG_VERSION } from './header-record.ts'

const sampleId = z.union([z.string(), z.number()])
const time = z.iso.datetime()

/** An error as it is kept: text only. */
export const errorRecordSchema = z.object({
  /** Which part of the sample's life failed. */
  kind: z.enum([
    'sandbox',
    'files',
    'setup',
    'agent',
    'tests',
    'artifacts',
    'scorer',
    'config',
    'source',
    'log',
    'operator',
    'internal',
  ]),
  code: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  /** Whether trying again may help, where whoever threw it knew. */
  transient: z.boolean().optional(),
  /** State and last output of a dead sandbox. */
  postMortem: z.string().optional(),
})
export type ErrorRecord = z.infer<typeof errorRecordSchema>

const scoreValueSchema = z.union([
  z.number(),
  z.string(),
  z.boolean(),
  z.array(z.union([z.number(), z.string(), z.boolean()])),
  z.record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.null()])),
])

const scoreShape = z.object({
  value: scoreValueSchema,
  answer: z.string().optional(),
  explanation: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
})

/** A sandbox configuration that was initialised or could not be. */
export const configRecordSchema = z.object({
  type: z.literal('config'),
  key: z.string(),
  kind: z.string(),
  description: z.string(),
  reach: z.string(),
  durationMs: z.number(),
  images: z.record(z.string(), z.string()).optional(),
  planDigest: z.string().optional(),
  /** `guest` or `engine` by service. */
  transports: z.record(z.string(), z.string()).optional(),
  error: errorRecordSchema.optional(),
})
export type ConfigRecord = z.infer<typeof configRecordSchema>

/** Whether a value is a score that a log can hold: no NaN, no infinity, no undefined. */
export function isScore(value: unknown): value is Score {
  return scoreShape.safeParse(value).success
}

const scoreSchema = z.custom<Score>(isScore, 'expected a score')

const contentPartSchema = z.custom<ContentPart>((value) => hasText(value, 'type'), 'expected a content part')

const messageSchema = z.custom<Message>((value) => hasText(value, 'role'), 'expected a message')

const transcriptEventSchema = z.custom<TranscriptEvent>(
  (value) => hasText(value, 'type'),
  'expected an event',
)

function hasText(value: unknown, key: string): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Readonly<Record<string, unknown>>)[key] === 'string'
  )
}

function hasList(value: unknown, key: string): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Array.isArray((value as Readonly<Record<string, unknown>>)[key])
  )
}

export const eventRecordSchema = z.object({
  type: z.literal('event'),
  uuid: z.string(),
  event: transcriptEventSchema,
})
export type EventRecord = z.infer<typeof eventRecordSchema>

export const sampleStatusSchema = z.enum(['success', 'error', 'limit', 'cancelled'])

/** An attempt that failed and was tried again; its events carry its uuid. */
export const earlierAttemptSchema = z.object({
  uuid: z.string(),
  attempt: z.number(),
  error: errorRecordSchema,
})
export type EarlierAttempt = z.infer<typeof earlierAttemptSchema>

const usagesSchema = z.record(z.string(), z.record(z.string(), z.number()))

const sandboxFactsSchema = z.object({
  kind: z.string(),
  key: z.string(),
  images: z.record(z.string(), z.string()),
})

export const sampleRecordSchema = z.object({
  type: z.literal('sample'),
  uuid: z.string(),
  /** Version that made it; its log may hold some that others made. */
  belljar: z.string().optional(),
  id: sampleId,
  epoch: z.number(),
  attempt: z.number(),
  /** Failed attempts before this one, first to last. */
  earlier: z.array(earlierAttemptSchema).optional(),
  /** uuid of the record of this sample and epoch that this one takes the place of. */
  supersedes: z.string().optional(),
  status: sampleStatusSchema,
  /** Media as their kind in brackets. */
  input: z.string(),
  /** The input with its media, where it is more than one text. */
  inputParts: z.array(contentPartSchema).optional(),
  target: z.union([z.string(), z.array(z.string())]).optional(),
  choices: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.unknown()),
  files: z.array(z.string()).optional(),
  setup: z.string().optional(),
  sandbox: sandboxFactsSchema.optional(),
  /** The sandbox in which the scorers acted, where it was not that of the agent. */
  verifier: sandboxFactsSchema.optional(),
  artifacts: z.array(artifactRecordSchema).optional(),
  messages: z.array(messageSchema),
  output: z.string(),
  /** By scorer; a scorer that could not judge has no entry. */
  scores: z.record(z.string(), scoreSchema),
  error: errorRecordSchema.optional(),
  limit: z.object({ type: z.string(), limit: z.number() }).optional(),
  startedAt: time,
  completedAt: time,
  totalMs: z.number(),
  /** Without waiting for slots. */
  workingMs: z.number(),
  /** `startedMs`: since the epoch; older logs lack it, and there each phase follows the one before at once. */
  phases: z.array(z.object({ name: z.string(), startedMs: z.number().optional(), durationMs: z.number() })),
  /** What calls of each model used, as ModelUsage names it. */
  usage: usagesSchema,
  /** The same by role, for calls of a role. */
  roleUsage: usagesSchema.optional(),
})

/** A sample that has begun: what a log knows of one whose run was killed. */
export const sampleStartSchema = z.object({
  type: z.literal('sample-start'),
  uuid: z.string(),
  id: sampleId,
  epoch: z.number(),
  startedAt: time,
  input: z.string(),
  target: z.union([z.string(), z.array(z.string())]).optional(),
})
export type SampleStartRecord = z.infer<typeof sampleStartSchema>

/** How one epoch of one sample ended; what a source's `sampleComplete` is told. */
export type SampleRecord = z.infer<typeof sampleRecordSchema>

/** What a person should know that belongs to no sample, and what teardown met. */
export const noteRecordSchema = z.object({
  type: z.literal('note'),
  at: time,
  level: z.enum(['info', 'warning', 'error']),
  message: z.string(),
  sample: sampleId.optional(),
  epoch: z.number().optional(),
})

/** `value` null: over no scored sample. */
export const metricRecordSchema = z.object({ name: z.string(), value: z.number().nullable() })

export const evalStatusSchema = z.enum(['success', 'error', 'cancelled'])
export type EvalStatus = z.infer<typeof evalStatusSchema>

export const totalsSchema = z.object({
  /** Sample-epochs that were planned. */
  total: z.number(),
  success: z.number(),
  error: z.number(),
  limit: z.number(),
  cancelled: z.number(),
  /** Ended without a record: cancelled while waiting, drained, stopped early. */
  abandoned: z.number().optional(),
  /** Of the total, those that were taken over from an eval that this one resumes. */
  reused: z.number().optional(),
  /** Of the errors, those of sandboxes and configurations rather than of an agent's making. */
  infrastructure: z.number().optional(),
})
export type Totals = z.infer<typeof totalsSchema>

export const footerSchema = z.object({
  type: z.literal('footer'),
  status: evalStatusSchema,
  completedAt: time,
  totals: totalsSchema,
  scores: z.array(
    z.object({
      scorer: z.string(),
      /** Left out where epochs are reduced by their mean because nothing else was asked for. */
      reducer: z.string().optional(),
      scored: z.number(),
      unscored: z.number(),
      metrics: z.array(metricRecordSchema),
    }),
  ),
  error: errorRecordSchema.optional(),
  /** Whether a source's end was reached; fixed data sets: always true. */
  sourceEnded: z.boolean(),
  /** Versions of belljar that made the samples; `unknown` for those that do not say. */
  versions: z.array(z.string()).optional(),
  /** What an operator ended the eval with. */
  stopped: z.enum(['drain', 'score', 'error', 'cancel']).optional(),
  /** What an early stopping manager says of its decisions. */
  earlyStopping: z.unknown().optional(),
})
export type FooterRecord = z.infer<typeof footerSchema>

/**
 * What a source saved while none of its callbacks ran. A record whose uuid is in no `told` list is unknown to the last state: a resume
 * tells the restored source of it again.
 */
export const sourceStateSchema = z.object({
  type: z.literal('source-state'),
  at: time,
  state: z.unknown(),
  /** Records that the source was told of since its previous state. */
  told: z.array(z.string()),
})

/** Samples that were added while the eval ran and that nobody would add again if it were resumed. */
export const samplesAddedSchema = z.object({
  type: z.literal('samples-added'),
  at: time,
  /** uuid of the attempt whose code added them; left out: a source that keeps its state. */
  by: z.string().optional(),
  samples: z.array(
    z.object({
      id: sampleId,
      sample: z.custom<Sample>((value) => hasText(value, 'input') || hasList(value, 'input')),
    }),
  ),
})
export type SamplesAddedRecord = z.infer<typeof samplesAddedSchema>

/** A record of an eval that was resumed whose sample is no part of this one: it counts in no figure. */
export const sampleOutsideSchema = z.object({
  type: z.literal('sample-outside'),
  at: time,
  uuid: z.string(),
  id: sampleId,
  epoch: z.number(),
})

export const logRecordSchema = z.discriminatedUnion('type', [
  headerSchema,
  samplesAddedSchema,
  sampleOutsideSchema,
  configRecordSchema,
  eventRecordSchema,
  sampleStartSchema,
  sampleRecordSchema,
  noteRecordSchema,
  sourceStateSchema,
  footerSchema,
])
export type LogRecord = z.infer<typeof logRecordSchema>
