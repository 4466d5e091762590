import type { Model } from '../agent/model.ts'
import type { HeaderRecord } from '../log/records/records.ts'
import type { EvaluateOptions } from './options.ts'
import type { ResolvedTask } from './resolved-task.ts'

/** How models are called, for the header; whatever is not set is left out. */
export function modelFacts(
  { model, roles = {}, config = {} }: ResolvedTask['models'],
  { maxConnections, cache }: EvaluateOptions,
): Pick<HeaderRecord, 'modelFacts' | 'modelRoles' | 'generateConfig'> {
  const generateConfig = {
    ...config,
    ...(maxConnections === undefined ? {} : { maxConnections }),
    ...(cache === undefined ? {} : { cache: config.cache ?? true }),
  }
  const named = Object.entries(roles).map(([role, given]) => [role, { model: given.name, ...factsOf(given) }])
  return {
    modelFacts: model && factsOf(model),
    modelRoles: named.length === 0 ? undefined : Object.fromEntries(named),
    generateConfig: Object.keys(generateConfig).length === 0 ? undefined : generateConfig,
  }
}

function factsOf({ baseUrl, args }: Model): { baseUrl?: string; args?: Record<string, unknown> } | undefined {
  if (baseUrl === undefined && args === undefined) return undefined
  return { baseUrl, args: args && { ...args } }
}
