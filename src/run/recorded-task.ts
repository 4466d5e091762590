import { basename } from 'node:path'
import { ConfigError } from '../errors.ts'
import type { HeaderRecord } from '../log/records/records.ts'
import { type LoadedTask, loadTasks } from '../task/load-tasks.ts'
import { taskIdOf } from './identity.ts'

export interface RecordedTaskOptions {
  readonly log: string
  /** Task file. */
  readonly file: string
  readonly alias?: Readonly<Record<string, string>> | undefined
}

/** The task of a log, loaded anew from a file with the arguments that the log names. @throws ConfigError */
export async function recordedTask(
  header: HeaderRecord,
  { log, file, alias }: RecordedTaskOptions,
): Promise<LoadedTask> {
  const loaded = await loadTasks(file, { parameters: passedParameters(header), alias })
  const task = await sameTask(loaded, header)
  if (task) return task
  throw new ConfigError(`${basename(file)} has no task '${header.task.name}' any more`, { where: log })
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
