import { stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { createJiti } from 'jiti'
import type { Model } from '../agent/model.ts'
import { ConfigError, errorMessage } from '../errors.ts'
import { Task, TaskFactory } from './task.ts'
import { registrationOf } from './task-registration.ts'

/** A task as an eval takes it: where it came from and which arguments it was made with. */
export interface LoadedTask {
  readonly task: Task
  readonly name: string
  /** Absolute; undefined for a task made in code. */
  readonly file: string | undefined
  /** Absolute folder that relative paths start at. */
  readonly directory: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** Path of a log of it that its eval goes on from. */
  readonly resume?: string
  /** Instead of the run's. */
  readonly model?: Model | string
}

export interface LoadOptions {
  /** `-T` arguments, for every task that takes parameters. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /** What `import ... from 'belljar'` in a task file resolves to: module name to file. */
  readonly alias?: Readonly<Record<string, string>>
  /** Name of the one task that is wanted. */
  readonly only?: string
  /** The file and what it imports, but for packages, are evaluated anew, as in a new process. */
  readonly fresh?: boolean
}

/** What a file exports of tasks, before any is given its parameters. @throws ConfigError */
export async function exportedTasks(
  path: string,
  options: LoadOptions = {},
): Promise<(Task | TaskFactory)[]> {
  const exported = new Set(Object.values(await importModule(resolve(path), path, options)).flat())
  return [...exported].filter((value) => value instanceof Task || value instanceof TaskFactory)
}

/** Loads the tasks that a file exports. @throws ConfigError: no file, an error while loading, no task, arguments that nothing takes */
export async function loadTasks(path: string, options: LoadOptions = {}): Promise<LoadedTask[]> {
  const file = resolve(path)
  const found = await stat(file).catch(() => undefined)
  if (!found?.isFile())
    throw new ConfigError(found ? 'is a folder; name a task file in it' : 'there is no such task file', {
      where: path,
    })
  const exported = await exportedTasks(path, options)
  const candidates = exported.filter(({ name }) => isWanted(name ?? nameOf(file), options.only))
  if (candidates.length === 0)
    throw new ConfigError('exports no task; export what defineTask(...) returns', { where: path })
  const given = options.parameters ?? {}
  const takesParameters = candidates.some((candidate) => candidate instanceof TaskFactory)
  if (Object.keys(given).length > 0 && !takesParameters) {
    throw new ConfigError(`takes no parameters, got ${Object.keys(given).join(', ')}`, { where: path })
  }
  return candidates.map((candidate) => loadedTask(candidate, file, given))
}

function isWanted(name: string, only: string | undefined): boolean {
  return only === undefined || only === name
}

function loadedTask(
  candidate: Task | TaskFactory,
  file: string,
  given: Readonly<Record<string, unknown>>,
): LoadedTask {
  const { task, parameters } =
    candidate instanceof Task ? { task: candidate, parameters: {} } : candidate.create(given)
  return { task, name: task.name ?? nameOf(file), file, directory: dirname(file), parameters }
}

/** A task made in code, with paths relative to the working directory. */
export function taskFromCode(task: Task): LoadedTask {
  const records = registrationOf(task)?.parameters ?? {}
  const parameters = Object.fromEntries(
    Object.entries(records).map(([name, { effective }]) => [name, effective]),
  )
  return { task, name: task.name ?? 'task', file: undefined, directory: process.cwd(), parameters }
}

async function importModule(
  file: string,
  shown: string,
  options: LoadOptions,
): Promise<Record<string, unknown>> {
  // No cache: it would be written beside the user's own modules.
  const jiti = createJiti(import.meta.url, {
    alias: { ...options.alias },
    fsCache: false,
    tsconfigPaths: false,
  })
  if (options.fresh) forget(jiti.cache[file], jiti.cache)
  try {
    return await jiti.import<Record<string, unknown>>(file)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`cannot load the task file: ${errorMessage(error)}`, { where: shown, cause: error })
  }
}

/** Only what is still the same module: it may have been loaded anew already on account of another file. */
function forget(module: NodeModule | undefined, cache: NodeJS.Dict<NodeModule>): void {
  if (!module || cache[module.filename] !== module || /[\\/]node_modules[\\/]/.test(module.filename)) return
  delete cache[module.filename]
  for (const child of module.children) forget(child, cache)
}

/** `task.ts` is named for its folder. */
export function nameOf(file: string): string {
  const stem = basename(file).replace(/\.[^.]+$/, '')
  return stem === 'task' || stem === 'index' ? basename(dirname(file)) : stem
}
