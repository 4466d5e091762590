import type { GenerateConfig, ReasoningEffort } from '../../../agent/model.ts'
import { definedOnly } from '../../../util/defined-only.ts'
import { toEvalSchema } from './json-schema.ts'

const SECOND = 1000

/** Settings by Inspect's names (inspect_ai/model/_generate_config.py, 0.3.285); it has none for what a provider alone knows. */
export function toEvalConfig(config: GenerateConfig = {}): Record<string, unknown> {
  const { responseSchema, attemptTimeoutMs, cache, stopSequences } = config
  const named = {
    max_tokens: config.maxOutputTokens,
    temperature: config.temperature,
    top_p: config.topP,
    top_k: config.topK,
    seed: config.seed,
    stop_seqs: stopSequences && [...stopSequences],
    frequency_penalty: config.frequencyPenalty,
    presence_penalty: config.presencePenalty,
    reasoning_effort: config.reasoningEffort,
    reasoning_tokens: config.reasoningTokens,
    parallel_tool_calls: config.parallelToolCalls,
    response_schema: responseSchema && {
      name: responseSchema.name,
      json_schema: toEvalSchema(responseSchema.schema),
    },
    max_retries: config.maxRetries,
    attempt_timeout: attemptTimeoutMs === undefined ? undefined : Math.ceil(attemptTimeoutMs / SECOND),
    cache,
  }
  return definedOnly(named)
}

/** What settings of a log that Inspect wrote mean here. */
export function fromEvalConfig(config: Readonly<Record<string, unknown>> = {}): GenerateConfig | undefined {
  const number = (name: string) => (typeof config[name] === 'number' ? (config[name] as number) : undefined)
  const known = definedOnly<GenerateConfig>({
    maxOutputTokens: number('max_tokens'),
    temperature: number('temperature'),
    topP: number('top_p'),
    topK: number('top_k'),
    seed: number('seed'),
    stopSequences: Array.isArray(config.stop_seqs) ? config.stop_seqs.map(String) : undefined,
    frequencyPenalty: number('frequency_penalty'),
    presencePenalty: number('presence_penalty'),
    reasoningEffort: (config.reasoning_effort ?? undefined) as ReasoningEffort | undefined,
    reasoningTokens: number('reasoning_tokens'),
    maxRetries: number('max_retries'),
  })
  return Object.keys(known).length === 0 ? undefined : known
}
