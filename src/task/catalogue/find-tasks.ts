import { stat } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { ConfigError } from '../../errors.ts'
import { readModule } from '../lint/read-module.ts'
import { exportedTasks, type LoadedTask, type LoadOptions, loadTasks, nameOf } from '../load-tasks.ts'
import { packageOf } from '../package-name.ts'
import type { Task, TaskFactory } from '../task.ts'
import { moduleFiles } from './module-files.ts'

/** A task of a package, not given any parameters. */
export interface FoundTask {
  /** `package/name`; the name alone where there is no package. */
  readonly id: string
  readonly name: string
  /** Absolute. */
  readonly file: string
  readonly task: Task | TaskFactory
}

/** The tasks that modules in a folder and those below it export, by id. Only modules that define tasks are loaded. @throws ConfigError */
export async function findTasks(directory: string, options: LoadOptions = {}): Promise<FoundTask[]> {
  const packageName = await packageOf(directory)
  const found: FoundTask[] = []
  for (const { file, problem } of await taskModules(directory)) {
    if (problem !== undefined) throw new ConfigError(`cannot be parsed: ${problem}`, { where: file })
    for (const task of await exportedTasks(file, options)) {
      const name = task.name ?? nameOf(file)
      found.push({ id: packageName === undefined ? name : `${packageName}/${name}`, name, file, task })
    }
  }
  found.sort((one, other) => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0))
  for (const [index, { id, file }] of found.entries()) {
    const next = found[index + 1]
    if (next?.id === id)
      throw new ConfigError(`two tasks have the id '${id}': ${file} and ${next.file}`, { where: directory })
  }
  return found
}

/**
 * Loads what a command line names: a file with tasks, or one task by name or id, wherever below the folder it is. Only modules that may have it are loaded.
 * @throws ConfigError
 */
export async function loadNamed(
  given: string,
  { directory, ...options }: LoadOptions & { readonly directory: string },
): Promise<LoadedTask[]> {
  const isFile = await stat(given).then(
    () => true,
    () => false,
  )
  if (isFile || /\.[cm]?[jt]s$/.test(given)) return loadTasks(given, options)
  const packageName = await packageOf(directory)
  const name =
    packageName !== undefined && given.startsWith(`${packageName}/`)
      ? given.slice(packageName.length + 1)
      : given
  const modules = await taskModules(directory)
  const files = modules.flatMap(({ file, names }) =>
    names.some((known) => known === undefined || known === name) ? [file] : [],
  )
  const having: string[] = []
  for (const file of files) {
    const tasks = await exportedTasks(file, options)
    if (tasks.some((task) => (task.name ?? nameOf(file)) === name)) having.push(file)
  }
  const [file, second] = having
  if (file !== undefined && second === undefined) return loadTasks(file, { ...options, only: name })
  const shown = having.map((path) => relative(directory, path).split(sep).join('/'))
  throw new ConfigError(
    file === undefined
      ? 'there is no such task file, and no task of this name here; belljar tasks lists them'
      : `several tasks have this name: ${shown.join(', ')}`,
    { where: given },
  )
}

async function taskModules(directory: string) {
  const modules: { file: string; names: (string | undefined)[]; problem?: string }[] = []
  for (const file of await moduleFiles(directory)) {
    const read = await readModule(file)
    if (read?.problem !== undefined) modules.push({ file, names: [], problem: read.problem })
    if (!read?.isTaskModule) continue
    // A task without a name is named for its file.
    modules.push({ file, names: [nameOf(file), ...read.tasks.map(({ name }) => name)] })
  }
  return modules
}
