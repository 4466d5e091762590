import type { GenerateConfig, Model } from '../agent/model.ts'
import type { RunModels } from '../agent/model-meter.ts'
import { loadModel } from '../agent/providers/load-model.ts'
import { ConfigError } from '../errors.ts'
import type { TaskDefinition } from '../task/task.ts'
import type { EvaluateOptions } from './options.ts'

/** What a task's samples call: what the run names takes the place of what the task names, one by one. @throws ConfigError */
export async function taskModels(
  definition: Pick<TaskDefinition, 'model' | 'modelRoles' | 'config'>,
  options: EvaluateOptions,
): Promise<Omit<RunModels, 'calls'>> {
  const model = options.model ?? definition.model
  const { modelBaseUrl: baseUrl, modelArgs: args } = options
  if (typeof model !== 'string' && (baseUrl !== undefined || args !== undefined))
    throw new ConfigError('a base URL and arguments are for a model that is given by name', {
      where: 'model',
    })
  const given = { ...definition.modelRoles, ...options.modelRoles }
  const roles = Object.entries(given).map(async ([role, name]) => [role, await loaded(name)] as const)
  return {
    model: model === undefined ? undefined : await loaded(model, { baseUrl, args }),
    roles: Object.fromEntries(await Promise.all(roles)),
    config: mergedConfig(definition.config, options.config),
  }
}

async function loaded(model: Model | string, options?: Parameters<typeof loadModel>[1]): Promise<Model> {
  return typeof model === 'string' ? loadModel(model, options) : model
}

/** What is undefined takes nothing's place. */
function mergedConfig(...configs: (GenerateConfig | undefined)[]): GenerateConfig {
  const entries = configs.flatMap((config) => Object.entries(config ?? {}))
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
