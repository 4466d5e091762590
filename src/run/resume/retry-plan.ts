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
