import { basename } from 'node:path'
import { ConfigError } from '../../errors.ts'
import { openPriorLog } from '../../log/prior/open-prior-log.ts'
import { ResumeVersionError } from '../../log/prior/resume-errors.ts'
import type { HeaderRecord } from '../../log/records/records.ts'
import { type LoadedTask, loadTasks } from '../../task/load-tasks.ts'
import { taskIdOf } from '../identity.ts'
import type { EvaluateOptions } from '../options.ts'

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
  const { file } = header.task
  if (file === undefined)
    throw new ConfigError('its task was made in code; resume it there: evaluate(task, { resume })', {
      where: log,
    })
  const loaded = await loadTasks(file, { parameters: passedParameters(header), alias })
  const task = await sameTask(loaded, header)
  if (!task)
    throw new ConfigError(`${basename(file)} has no task '${header.task.name}' any more`, { where: log })
  const { model, modelFacts } = header
  const models = { model, modelBaseUrl: modelFacts?.baseUrl, modelArgs: modelFacts?.args }
  const given = header.config.given as EvaluateOptions | undefined
  return { task, options: { ...(model !== undefined && models), ...given, resume: log } }
}

async function headerOf(log: string): Promise<HeaderRecord> {
  await using prior = await openPriorLog(log)
  if (prior.header) return prior.header
  throw new ResumeVersionError(`its header cannot be read: ${prior.problem ?? 'there is none'}`, { log })
}

function passedParameters({ identity, task }: HeaderRecord): Record<string, unknown> {
  if (!identity) return task.parameters
  const passed = Object.entries(identity.parameters).filter(([, record]) => 'passed' in record)
  return Object.fromEntries(passed.map(([name, record]) => [name, record.passed]))
}

async function sameTask(
  loaded: readonly LoadedTask[],
  { identity, task }: HeaderRecord,
): Promise<LoadedTask | undefined> {
  for (const candidate of loaded) {
    const { aliases = [] } = candidate.task.definition
    if (identity && [await taskIdOf(candidate), ...aliases].includes(identity.id)) return candidate
  }
  return loaded.find(({ name }) => name === task.name)
}
