import { ConfigError } from '../../../errors.ts'
import type { Model, ModelRequest } from '../../model.ts'
import { toCallOptions } from './call-options.ts'
import { toModelError } from './errors.ts'
import { fromResult } from './output.ts'
import type { AiSdkModel, GenerateResult } from './types.ts'

export interface FromAiSdkOptions {
  /** Default: provider and id, such as `openai/gpt-5`. */
  readonly name?: string
  readonly baseUrl?: string
  /** For the log and the cache: no secrets. */
  readonly args?: Readonly<Record<string, unknown>>
}

const VERSIONS = ['v2', 'v3', 'v4']

/**
 * A model of any provider of the Vercel AI SDK (its versions 5, 6 and 7). Only one call at a time is made through it: retries, tools and
 * caching are belljar's. @throws ConfigError for a string, which the SDK would send to a gateway, and for what is no language model
 */
export function fromAiSdk(model: AiSdkModel, options: FromAiSdkOptions = {}): Model {
  checkModel(model)
  const { baseUrl, args } = options
  const name = options.name ?? `${model.provider.split('.')[0]}/${model.modelId}`
  const doGenerate = model.doGenerate.bind(model) as (options: unknown) => PromiseLike<unknown>
  return {
    name,
    baseUrl,
    args,
    connectionKey: baseUrl === undefined ? name : `${name} at ${baseUrl}`,
    async generate(request: ModelRequest) {
      request.signal?.throwIfAborted()
      const callOptions = toCallOptions(request, model)
      try {
        return fromResult((await doGenerate(callOptions)) as GenerateResult, model, name)
      } catch (error) {
        request.signal?.throwIfAborted()
        throw toModelError(error, name)
      }
    },
  }
}

function checkModel(model: unknown): asserts model is AiSdkModel {
  if (typeof model === 'string')
    throw new ConfigError(
      `expected a language model, got the string '${model}'; give names to loadModel() or --model`,
      { where: 'fromAiSdk' },
    )
  const { specificationVersion, doGenerate } = (model ?? {}) as Partial<AiSdkModel>
  if (typeof doGenerate === 'function' && VERSIONS.includes(specificationVersion ?? '')) return
  const got = specificationVersion === undefined ? typeof model : `interface version ${specificationVersion}`
  throw new ConfigError(
    `expected a language model of the AI SDK with interface version ${VERSIONS.join(', ')}, got ${got}`,
    { where: 'fromAiSdk' },
  )
}
