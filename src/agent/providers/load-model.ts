import { ConfigError } from '../../errors.ts'
import type { Model } from '../model.ts'
import { fromAiSdk } from './ai-sdk/from-ai-sdk.ts'
import type { AiSdkModel } from './ai-sdk/types.ts'
import { importOptional } from './optional-package.ts'
import { patientFetch } from './patient-fetch.ts'
import { scriptedFromArgs } from './scripted-args.ts'

export interface LoadModelOptions {
  /** Where the provider is reached (default: its own address, or what its variable of the environment says). */
  readonly baseUrl?: string
  /** What the provider is made with, such as `apiKey`, `headers` or `organization`; for OpenAI also `api`: `responses` (default) or `chat`. */
  readonly args?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string | undefined>>
}

interface Provider {
  /** Variables that hold its key, any of which serves. */
  readonly keys: readonly string[]
  readonly baseUrlVariable: string
  make(id: string, settings: ProviderSettings): Promise<AiSdkModel>
}

interface ProviderSettings {
  readonly apiKey?: string
  readonly baseURL?: string
  readonly fetch: typeof fetch
  readonly [name: string]: unknown
}

const PACKAGE_VERSION = '3'

const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: {
    keys: ['OPENAI_API_KEY'],
    baseUrlVariable: 'OPENAI_BASE_URL',
    async make(id, { api = 'responses', ...settings }) {
      const { createOpenAI } = await optional<typeof import('@ai-sdk/openai')>('@ai-sdk/openai', id)
      const provider = createOpenAI(settings)
      if (api === 'responses') return provider.responses(id)
      if (api === 'chat') return provider.chat(id)
      throw new ConfigError(`api: expected 'responses' or 'chat', got '${String(api)}'`, { where: id })
    },
  },
  anthropic: {
    keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    async make(id, settings) {
      const { createAnthropic } = await optional<typeof import('@ai-sdk/anthropic')>('@ai-sdk/anthropic', id)
      return createAnthropic(settings)(id)
    },
  },
  google: {
    keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrlVariable: 'GOOGLE_BASE_URL',
    async make(id, settings) {
      const { createGoogleGenerativeAI } = await optional<typeof import('@ai-sdk/google')>(
        '@ai-sdk/google',
        id,
      )
      return createGoogleGenerativeAI(settings)(id)
    },
  },
  'openai-compatible': {
    keys: ['OPENAI_COMPATIBLE_API_KEY'],
    baseUrlVariable: 'OPENAI_COMPATIBLE_BASE_URL',
    async make(id, { baseURL, ...settings }) {
      if (!baseURL)
        throw new ConfigError(
          'needs a base URL: pass baseUrl (--model-base-url) or set OPENAI_COMPATIBLE_BASE_URL',
          { where: `openai-compatible/${id}` },
        )
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return createOpenAICompatible({ ...settings, name: 'openaiCompatible', baseURL }).chatModel(id)
    },
  },
}

function optional<T>(name: string, id: string): Promise<T> {
  return importOptional<T>({ name, version: PACKAGE_VERSION, where: `model '${id}'` })
}

/**
 * A model by name: `openai/ID`, `anthropic/ID`, `google/ID` (their packages `@ai-sdk/...` are installed by who uses them),
 * `openai-compatible/ID` (vLLM, Ollama, llama-server, gateways), or `scripted`.
 * @throws ConfigError for a name that is none of these, a package or a key that is missing
 */
export async function loadModel(name: string, options: LoadModelOptions = {}): Promise<Model> {
  if (name === 'scripted') return scriptedFromArgs(options.args)
  const [, providerName = '', id = ''] = /^([^/]+)\/(.+)$/s.exec(name) ?? []
  const provider = Object.hasOwn(PROVIDERS, providerName) ? PROVIDERS[providerName] : undefined
  if (!provider)
    throw new ConfigError(
      `unknown model '${name}'; expected scripted, or one of ${Object.keys(PROVIDERS).join(', ')} with the provider's name of the model, such as openai/gpt-5`,
    )
  const { env = process.env, args = {} } = options
  const baseUrl = options.baseUrl ?? env[provider.baseUrlVariable]
  const apiKey = provider.keys.map((key) => env[key]).find((key) => key)
  checkKey({
    name,
    keys: provider.keys,
    hasKey: hasKey(args) || apiKey !== undefined || baseUrl !== undefined,
  })
  const settings = { apiKey: apiKey ?? (baseUrl === undefined ? undefined : 'none'), ...args }
  const made = await provider.make(id, { ...settings, baseURL: baseUrl, fetch: patientFetch })
  return fromAiSdk(made, { name, baseUrl, args: withoutSecrets(args) })
}

/** Where an address is given it may be one that wants no key. */
function checkKey({ name, keys, hasKey }: { name: string; keys: readonly string[]; hasKey: boolean }): void {
  if (!hasKey) throw new ConfigError(`needs a key: set ${keys.join(' or ')}`, { where: `model '${name}'` })
}

const SECRET = /key|token|secret|password|authorization|headers/i

function hasKey(args: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(args).some((name) => SECRET.test(name))
}

/** Arguments of a model without those that are named as keys are. */
export function withoutSecrets(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !SECRET.test(name)))
}
