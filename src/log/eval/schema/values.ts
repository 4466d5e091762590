import { z } from 'zod'

/** The values that Inspect's log format shares between its parts. Format: inspect_ai/log/_log.py and inspect_ai/model (0.3.285). */

const text = z.string()
const anything = z.record(z.string(), z.unknown())

/** ISO 8601 with a zone. */
export const timestampSchema = z.iso.datetime({ offset: true })

export const sampleIdSchema = z.union([z.string(), z.int()])

export const evalErrorSchema = z.looseObject({ message: text, traceback: text, traceback_ansi: text })

export const limitTypeSchema = z.enum([
  'context',
  'time',
  'working',
  'message',
  'token',
  'turn',
  'cost',
  'operator',
  'custom',
])

export const usageSchema = z.looseObject({
  input_tokens: z.int(),
  output_tokens: z.int(),
  total_tokens: z.int(),
  input_tokens_cache_write: z.int().nullish(),
  input_tokens_cache_read: z.int().nullish(),
  reasoning_tokens: z.int().nullish(),
  total_cost: z.number().nullish(),
})
export type EvalUsage = z.infer<typeof usageSchema>

export const contentSchema = z.union([
  text,
  z.array(
    z.looseObject({
      type: z.enum(['text', 'reasoning', 'image', 'audio', 'video', 'data', 'tool_use', 'document']),
    }),
  ),
])
export type EvalContent = z.infer<typeof contentSchema>

export const toolErrorTypeSchema = z.enum([
  'parsing',
  'timeout',
  'unicode_decode',
  'permission',
  'file_not_found',
  'is_a_directory',
  'limit',
  'approval',
  'cancelled',
  'sandbox_unavailable',
  'unknown',
  'output_limit',
])
export const toolErrorSchema = z.looseObject({ type: toolErrorTypeSchema, message: text })

const messageBase = { id: text.nullish(), content: contentSchema, metadata: anything.nullish() }

export const toolCallSchema = z.looseObject({
  id: text,
  function: text,
  arguments: anything,
  parse_error: text.nullish(),
  type: text.nullish(),
})

export const chatMessageSchema = z.discriminatedUnion('role', [
  z.looseObject({ ...messageBase, role: z.literal('system') }),
  z.looseObject({ ...messageBase, role: z.literal('user') }),
  z.looseObject({
    ...messageBase,
    role: z.literal('assistant'),
    tool_calls: z.array(toolCallSchema).nullish(),
    model: text.nullish(),
  }),
  z.looseObject({
    ...messageBase,
    role: z.literal('tool'),
    tool_call_id: text.nullish(),
    function: text.nullish(),
    error: toolErrorSchema.nullish(),
  }),
])
export type ChatMessage = z.infer<typeof chatMessageSchema>

export const modelOutputSchema = z.looseObject({
  model: text.optional(),
  choices: z
    .array(
      z.looseObject({
        message: chatMessageSchema,
        stop_reason: z.enum([
          'stop',
          'max_tokens',
          'model_length',
          'tool_calls',
          'content_filter',
          'unknown',
        ]),
      }),
    )
    .optional(),
  completion: text.optional(),
  usage: usageSchema.nullish(),
  time: z.number().nullish(),
  error: text.nullish(),
})
export type EvalModelOutput = z.infer<typeof modelOutputSchema>

const scoreAtom = z.union([text, z.number(), z.boolean()])
export const scoreSchema = z.looseObject({
  value: z.union([scoreAtom, z.array(scoreAtom), z.record(text, scoreAtom.nullable())]),
  answer: text.nullish(),
  explanation: text.nullish(),
  metadata: anything.nullish(),
})
