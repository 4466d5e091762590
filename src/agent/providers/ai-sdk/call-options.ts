import { definedOnly } from '../../../util/defined-only.ts'
import type { GenerateConfig, ModelRequest, ToolChoice } from '../../model.ts'
import { toPrompt } from './prompt.ts'
import type { AiSdkModel, CallOptions, PromptMessage, ProviderData } from './types.ts'

/** A request as `doGenerate` takes it. */
export function toCallOptions(request: ModelRequest, model: AiSdkModel): CallOptions {
  const { messages, tools, toolChoice, config = {}, signal } = request
  const { maxOutputTokens, temperature, topP, topK, seed, frequencyPenalty, presencePenalty } = config
  const { responseSchema, stopSequences } = config
  const provider = familyOf(model)
  const prompt = toPrompt(messages, model.specificationVersion)
  return definedOnly({
    prompt: provider === 'anthropic' && cachesPrompt(request) ? withCacheMark(prompt) : prompt,
    tools:
      tools.length === 0
        ? undefined
        : tools.map(({ name, description, parameters }) => ({
            type: 'function',
            name,
            description,
            inputSchema: parameters,
          })),
    toolChoice: tools.length === 0 ? undefined : toToolChoice(toolChoice),
    ...{ maxOutputTokens, temperature, topP, topK, seed, frequencyPenalty, presencePenalty },
    stopSequences: stopSequences && [...stopSequences],
    responseFormat: responseSchema && { type: 'json', ...responseSchema },
    reasoning: model.specificationVersion === 'v4' ? config.reasoningEffort : undefined,
    providerOptions: merged(ownOptions(config, model, provider), config.providerOptions),
    abortSignal: signal,
  })
}

function toToolChoice(choice: ToolChoice | undefined): CallOptions['toolChoice'] {
  if (choice === undefined) return undefined
  if (typeof choice === 'object') return { type: 'tool', toolName: choice.name }
  return { type: choice === 'any' ? 'required' : choice }
}

export type Family = 'openai' | 'anthropic' | 'google' | 'openaiCompatible' | 'other'

/** Whose options a provider takes: `openai.responses` is OpenAI's, `azure-openai.chat` too. */
export function familyOf({ provider }: Pick<AiSdkModel, 'provider'>): Family {
  const [name = ''] = provider.split('.')
  if (name === 'openaiCompatible') return 'openaiCompatible'
  if (/openai|azure/.test(name)) return 'openai'
  if (/anthropic/.test(provider)) return 'anthropic'
  return /google|vertex/.test(name) ? 'google' : 'other'
}

/** Settings that the interface has no place for. */
function ownOptions(
  { reasoningEffort, reasoningTokens, parallelToolCalls, topK }: GenerateConfig,
  { specificationVersion }: AiSdkModel,
  family: Family,
): ProviderData {
  const effort = specificationVersion === 'v4' ? undefined : reasoningEffort
  const one = parallelToolCalls
  const byFamily = {
    openai: { reasoningEffort: effort, parallelToolCalls: one },
    openaiCompatible: { reasoningEffort: effort, parallel_tool_calls: one, top_k: topK },
    anthropic: {
      thinking:
        reasoningTokens === undefined ? undefined : { type: 'enabled', budgetTokens: reasoningTokens },
      effort,
      disableParallelToolUse: one === undefined ? undefined : !one,
    },
    google: {
      thinkingConfig:
        reasoningTokens === undefined && effort === undefined
          ? undefined
          : definedOnly({ thinkingBudget: reasoningTokens, thinkingLevel: effort }),
    },
    other: {},
  } satisfies Record<Family, object>
  const own = definedOnly(byFamily[family])
  return Object.keys(own).length === 0 ? {} : { [family]: own }
}

/** Conversations with tools are sent again and again, so they are worth a provider's cache, which Anthropic wants to be told. */
function cachesPrompt({ tools, config }: ModelRequest): boolean {
  return config?.cachePrompt ?? tools.length > 0
}

function withCacheMark(prompt: readonly PromptMessage[]): PromptMessage[] {
  const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } }
  const firstOther = prompt.findIndex(({ role }) => role !== 'system')
  return prompt.map((message, index) =>
    index === prompt.length - 1 || index === firstOther - 1 ? { ...message, providerOptions: mark } : message,
  )
}

function merged(own: ProviderData, given: GenerateConfig['providerOptions']): ProviderData | undefined {
  const names = [...new Set([...Object.keys(own), ...Object.keys(given ?? {})])]
  if (names.length === 0) return undefined
  return Object.fromEntries(names.map((name) => [name, { ...own[name], ...given?.[name] }]))
}
