import { z } from 'zod'
import { type GenerateConfig, isModel, type Model, type ReasoningEffort } from './model.ts'

export const REASONING_EFFORTS = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
] as const satisfies readonly ReasoningEffort[]

const count = z.number().int().positive()
const anything = z.record(z.string(), z.unknown())

/** Settings as a user gave them: what is misspelt or out of range is refused. */
export const generateConfigSchema = z
  .strictObject({
    maxOutputTokens: count,
    temperature: z.number().nonnegative(),
    topP: z.number().min(0).max(1),
    topK: count,
    seed: z.number().int(),
    stopSequences: z.array(z.string()),
    frequencyPenalty: z.number(),
    presencePenalty: z.number(),
    reasoningEffort: z.enum(REASONING_EFFORTS),
    reasoningTokens: count,
    parallelToolCalls: z.boolean(),
    responseSchema: z.strictObject({ name: z.string(), schema: anything }),
    providerOptions: z.record(z.string(), anything),
    cachePrompt: z.boolean(),
    maxRetries: z.number().int().nonnegative(),
    attemptTimeoutMs: count,
    cache: z.boolean(),
  })
  .partial() satisfies z.ZodType<GenerateConfig>

/** A model as a user gave it. */
export const modelSchema = z.custom<Model | string>(
  (value) => typeof value === 'string' || isModel(value),
  'expected a model, such as fromAiSdk(...), or the name of one, such as openai/gpt-5',
)
