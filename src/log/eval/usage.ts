import type { ModelUsage } from '../../agent/model.ts'
import { definedOnly } from '../../util/defined-only.ts'
import type { EvalUsage } from './schema/values.ts'

/** Inspect counts input without what a provider's cache read and wrote (inspect_ai/model/_model_output.py, 0.3.285). */
export function toUsage(usage: Readonly<Record<string, number>> | ModelUsage): EvalUsage {
  const {
    inputTokens = 0,
    outputTokens = 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
    cost,
  } = usage
  return {
    input_tokens: inputTokens - (cacheReadTokens ?? 0) - (cacheWriteTokens ?? 0),
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_cache_write: cacheWriteTokens,
    input_tokens_cache_read: cacheReadTokens,
    reasoning_tokens: reasoningTokens,
    total_cost: cost,
  }
}

export function fromUsage(usage: EvalUsage | null | undefined): ModelUsage {
  const cacheReadTokens = usage?.input_tokens_cache_read ?? undefined
  const cacheWriteTokens = usage?.input_tokens_cache_write ?? undefined
  const more = {
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: usage?.reasoning_tokens ?? undefined,
    cost: usage?.total_cost ?? undefined,
  }
  return {
    inputTokens: (usage?.input_tokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0),
    outputTokens: usage?.output_tokens ?? 0,
    ...definedOnly(more),
  }
}
