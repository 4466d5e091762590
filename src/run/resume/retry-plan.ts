import { ConfigError } from '../../errors.ts'
import { openPriorLog } from '../../log/prior/open-prior-log.ts'
import { ResumeVersionError } from '../../log/prior/resume-errors.ts'
import type { HeaderRecord } from '../../log/records/records.ts'
import type { LoadedTask } from '../../task/load-tasks.ts'
import type { EvaluateOptions } from '../options.ts'
import { recordedTask } from '../recorded-task.ts'

export interface RetryPlan {
  readonly task: LoadedTask
  /** As they were given when the log was made. */
  readonly options: EvaluateOptions
}

/** What a log says of how it was made: its task, loaded anew with the same arguments, and the options of its run. @throws ConfigError */
export async function retryPlan(
  log: string,
  { alias }: { readonly alias?: Readonly<Record<string, string>> },
): Promise<RetryPlan> {
  const header = await headerOf(log)
  if (header.task.file === undefined)
    throw new ConfigError('its task was made in code; resume it there: evaluate(task, { resume })', {
      where: log,
    })
  const task = await recordedTask(header, { log, file: header.task.file, alias })
  const options: EvaluateOptions = { ...header.config.given, resume: log }
  checkModels(header, { task, options, log })
  return { task, options }
}

/** @throws ConfigError for models that the run was given as objects: nobody can make them again here */
function checkModels(
  { model, modelRoles = {} }: HeaderRecord,
  { task, options, log }: RetryPlan & { readonly log: string },
): void {
  const { definition } = task.task
  const roles = { ...definition.modelRoles, ...options.modelRoles }
  const missing = Object.entries(modelRoles).filter(([role]) => roles[role] === undefined)
  const names = missing.map(([role, was]) => `'${was.model}' of role '${role}'`)
  const hasModel = options.model !== undefined || definition.model !== undefined
  if (model !== undefined && !hasModel) names.unshift(`'${model}'`)
  if (names.length === 0) return
  throw new ConfigError(
    `models were given to its run in code: ${names.join(', ')}; resume it there: evaluate(task, { resume })`,
    { where: log },
  )
}

async function headerOf(log: string): Promise<HeaderRecord> {
  await using prior = await openPriorLog(log)
  if (prior.header) return prior.header
  throw new ResumeVersionError(`its header cannot be read: ${prior.problem ?? 'there is none'}`, { log })
}
