import { z } from 'zod'
import { generateConfigSchema } from '../agent/generate-config.ts'
import { isModel } from '../agent/model.ts'
import { ConfigError } from '../errors.ts'
import type { EvaluateOptions } from './options.ts'

/** What can be said of a run's options without its tasks. @throws ConfigError */
export function checkOptions(options: Omit<EvaluateOptions, 'onEvent'>): void {
  checkCounts(options)
  checkModels(options)
  checkModelList(options)
}

function checkModelList({ model, models }: Omit<EvaluateOptions, 'onEvent'>): void {
  if (!models) return
  if (model) throw new ConfigError('give either one model or several', { where: 'models' })
  const names = models.map((one) => (typeof one === 'string' ? one : one.name))
  if (names.length === 0) throw new ConfigError('expected at least one model', { where: 'models' })
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new ConfigError(`'${twice}' is named twice`, { where: 'models' })
}

const COUNTS = [
  'epochs',
  'maxSamples',
  'maxSandboxes',
  'maxTasks',
  'maxConnections',
  'maxStarts',
  'maxEngineCalls',
  'maxOutputBytes',
  'maxReadBytes',
] as const

function checkCounts(options: Omit<EvaluateOptions, 'onEvent'>): void {
  for (const name of COUNTS) {
    const value = options[name]
    if (value === undefined || (Number.isInteger(value) && value >= 1)) continue
    throw new ConfigError(`expected a whole number of at least 1, got ${value}`, { where: name })
  }
}

function checkModels({ config, model, modelRoles = {} }: Omit<EvaluateOptions, 'onEvent'>): void {
  const parsed = generateConfigSchema.safeParse(config ?? {})
  if (!parsed.success) throw new ConfigError(z.prettifyError(parsed.error), { where: 'config' })
  const given = { model: model ?? '', ...modelRoles }
  const wrong = Object.entries(given).find(([, one]) => typeof one !== 'string' && !isModel(one))
  if (wrong) throw new ConfigError('expected a model, or the name of one', { where: wrong[0] })
}
