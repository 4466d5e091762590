import { anthropicMessages } from './api/anthropic-messages.ts'
import type { Api, ApiTarget } from './api/api.ts'
import { googleGenerate } from './api/google-generate.ts'
import { openaiChat } from './api/openai-chat.ts'
import { openaiResponses } from './api/openai-responses.ts'

/** What a request wants. */
export type Route =
  | { readonly kind: 'generate'; readonly api: Api; readonly target: ApiTarget }
  | { readonly kind: 'count'; readonly api: Api; readonly field: 'input_tokens' | 'totalTokens' }
  | { readonly kind: 'models' }
  | { readonly kind: 'alive' }

const APIS: readonly (readonly [RegExp, Api])[] = [
  [/\/chat\/completions$/, openaiChat],
  [/\/responses$/, openaiResponses],
  [/\/messages$/, anthropicMessages],
]

const GOOGLE = /\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/

/** By the end of the path, so that a program may have any prefix before it. Undefined for what nothing here answers. */
export function routeOf(method: string, path: string): Route | undefined {
  if (method === 'GET' || method === 'HEAD') {
    if (/\/models(\/[^/]+)?$/.test(path)) return { kind: 'models' }
    return path === '/' ? { kind: 'alive' } : undefined
  }
  if (method !== 'POST') return undefined
  const [, model, action] = GOOGLE.exec(path) ?? []
  if (action === 'countTokens') return { kind: 'count', api: googleGenerate, field: 'totalTokens' }
  if (model !== undefined)
    return {
      kind: 'generate',
      api: googleGenerate,
      target: { model: decodeURIComponent(model), stream: action === 'streamGenerateContent' },
    }
  if (/\/messages\/count_tokens$/.test(path))
    return { kind: 'count', api: anthropicMessages, field: 'input_tokens' }
  const found = APIS.find(([end]) => end.test(path))
  return found && { kind: 'generate', api: found[1], target: {} }
}
