import type { Model } from '../../../agent/model.ts'
import { ConfigError } from '../../../errors.ts'
import type { HeaderRecord, TaskIdentity } from '../../../log/records/header-record.ts'
import type { LoadedTask } from '../../../task/load-tasks.ts'
import type { ParameterRecords } from '../../../task/task-parameters.ts'
import { registrationOf } from '../../../task/task-registration.ts'
import { canonicalHash, canonicalJson } from '../../../util/canonical.ts'
import { taskIdOf } from '../../identity.ts'

/** What makes an eval of a set: its task, the arguments of that, and its model. Everything else has to be the same in all its logs. */
export interface SetIdentity {
  /** `package/name`. */
  readonly id: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly model?: string | undefined
}

/** One eval of a set. */
export interface SetTask extends SetIdentity {
  /** From the identity; the same on every machine. */
  readonly key: string
  readonly loaded: LoadedTask
  /** Former ids. */
  readonly aliases: readonly string[]
}

const KEY_LENGTH = 16

export function setKey({ id, parameters, model }: SetIdentity): string {
  return canonicalHash({ id, parameters, model: model ?? null }).slice(0, KEY_LENGTH)
}

/** `mask` takes secrets out, as it does for logs. */
export async function setTaskOf(
  loaded: LoadedTask,
  model: Model | string | undefined,
  mask: <T>(value: T) => T,
): Promise<SetTask> {
  const { definition } = loaded.task
  const used = model ?? definition.model
  const identity = mask({
    id: (await taskIdOf(loaded)) ?? loaded.name,
    parameters: passedOrDeclared(registrationOf(loaded.task)?.parameters ?? {}),
    model: typeof used === 'string' ? used : used?.name,
  })
  const withModel = model === undefined ? loaded : { ...loaded, model }
  return { ...identity, key: setKey(identity), loaded: withModel, aliases: definition.aliases ?? [] }
}

/** What a log is of. */
export function identityOfLog({ identity, task, model }: HeaderRecord): SetIdentity {
  return {
    id: identity?.id ?? task.name,
    parameters: passedOrDeclared(identity?.parameters ?? {}),
    model,
  }
}

/** Tells of which of the tasks a log is, under whichever id the task had then. */
export function taskFinder<T extends SetTask>(tasks: readonly T[]): (header: HeaderRecord) => T | undefined {
  const byKey = new Map(tasks.map((task) => [task.key, task]))
  const idsByAlias = new Map<string, string[]>()
  for (const { id, aliases } of tasks)
    for (const alias of aliases) idsByAlias.set(alias, [...(idsByAlias.get(alias) ?? []), id])
  return (header) => {
    const identity = identityOfLog(header)
    const ids = [identity.id, ...(idsByAlias.get(identity.id) ?? [])]
    return ids.map((id) => byKey.get(setKey({ ...identity, id }))).find((task) => task !== undefined)
  }
}

/** @throws ConfigError for two evals that nobody could tell apart */
export function checkDistinct(tasks: readonly SetTask[]): void {
  const seen = new Map<string, SetTask>()
  for (const task of tasks) {
    if (seen.has(task.key))
      throw new ConfigError(
        `${describeTask(task)} is in the set twice; name each task, arguments and model once`,
      )
    seen.set(task.key, task)
  }
}

/** For a person. */
export function describeTask({ id, parameters, model }: SetIdentity): string {
  const given = Object.entries(parameters).map(([name, value]) => `${name}=${canonicalJson(value)}`)
  const parts = [...given, ...(model === undefined ? [] : [`model ${model}`])]
  return parts.length === 0 ? id : `${id} (${parts.join(', ')})`
}

/** Not what a task's setup has reported, which nobody knows before it has run. */
function passedOrDeclared(records: ParameterRecords | TaskIdentity['parameters']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(records).flatMap(([name, record]) => {
      if ('passed' in record) return [[name, record.passed]]
      return 'declared' in record ? [[name, record.declared]] : []
    }),
  )
}
