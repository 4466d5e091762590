import { z } from 'zod'
import {
  chatMessageSchema,
  evalErrorSchema,
  limitTypeSchema,
  modelOutputSchema,
  scoreSchema,
  timestampSchema,
  toolErrorSchema,
} from './values.ts'

const text = z.string()
const anything = z.record(z.string(), z.unknown())

const base = {
  uuid: text.nullish(),
  span_id: text.nullish(),
  timestamp: timestampSchema.optional(),
  working_start: z.number().optional(),
  metadata: anything.nullish(),
}
const timing = { completed: timestampSchema.nullish(), working_time: z.number().nullish() }

function event<Tag extends string, Shape extends z.ZodRawShape>(tag: Tag, shape: Shape) {
  return z.looseObject({ event: z.literal(tag), ...base, ...shape })
}

const changes = z.array(
  z.looseObject({ op: z.enum(['add', 'remove', 'replace', 'move', 'copy', 'test']), path: text }),
)

const modelEventSchema = event('model', {
  ...timing,
  model: text,
  input: z.array(chatMessageSchema),
  input_refs: z.array(z.tuple([z.int(), z.int()])).nullish(),
  tools: z.array(z.looseObject({ name: text })),
  tool_choice: z.union([z.enum(['auto', 'any', 'none']), z.looseObject({ name: text })]),
  config: anything,
  output: modelOutputSchema,
  error: text.nullish(),
  role: text.nullish(),
  retries: z.int().nullish(),
  cache: z.enum(['read', 'write']).nullish(),
  call: z
    .looseObject({
      request: anything,
      response: z.unknown().optional(),
      call_refs: z.array(z.tuple([z.int(), z.int()])).nullish(),
      call_key: text.nullish(),
    })
    .nullish(),
})
export type EvalModelEvent = z.infer<typeof modelEventSchema>

const toolEventSchema = event('tool', {
  ...timing,
  type: z.literal('function').optional(),
  id: text,
  function: text,
  arguments: anything,
  result: z.unknown().optional(),
  error: toolErrorSchema.nullish(),
  failed: z.boolean().nullish(),
})
export type EvalToolEvent = z.infer<typeof toolEventSchema>

const sandboxEventSchema = event('sandbox', {
  completed: timestampSchema.nullish(),
  action: z.enum(['exec', 'read_file', 'write_file']),
  cmd: text.nullish(),
  options: anything.nullish(),
  file: text.nullish(),
  input: text.nullish(),
  result: z.int().nullish(),
  output: text.nullish(),
})
export type EvalSandboxEvent = z.infer<typeof sandboxEventSchema>

const infoEventSchema = event('info', { source: text.nullish(), data: z.unknown() })
export type EvalInfoEvent = z.infer<typeof infoEventSchema>

/** The events that a log may hold; one of another kind makes Inspect refuse the whole log. Format: inspect_ai/event/_event.py. */
export const evalEventSchema = z.discriminatedUnion('event', [
  event('sample_init', { sample: z.looseObject({ input: z.unknown() }) }),
  event('sample_limit', { type: limitTypeSchema, message: text, limit: z.number().nullish() }),
  event('span_begin', { id: text, name: text, type: text.nullish(), parent_id: text.nullish() }),
  event('span_end', { id: text }),
  modelEventSchema,
  toolEventSchema,
  sandboxEventSchema,
  infoEventSchema,
  event('state', { changes }),
  event('store', { changes }),
  event('score', { score: scoreSchema, intermediate: z.boolean().optional(), scorer: text.nullish() }),
  event('score_edit', { score_name: text, edit: z.unknown() }),
  event('error', { error: evalErrorSchema }),
  event('logger', { message: z.looseObject({ level: text, message: text }) }),
  event('input', { input: text, input_ansi: text }),
  event('approval', { message: text, call: z.unknown(), approver: text, decision: text }),
  event('interrupt', {
    source: z.enum(['user_cancel', 'limit', 'system']),
    interrupted: z.enum(['generate', 'tool_call', 'between_turns']),
  }),
  event('compaction', { type: z.enum(['summary', 'edit', 'trim']).optional() }),
  event('anchor', { anchor_id: text }),
  event('branch', { from_anchor: text.optional() }),
  event('checkpoint', {}),
  event('step', { action: z.enum(['begin', 'end']), name: text }),
  event('subtask', { name: text, input: anything }),
])
export type EvalEvent = z.infer<typeof evalEventSchema>
