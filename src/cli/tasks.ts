import { randomBytes } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { ConfigError, errorMessage } from '../errors.ts'
import { catalogueOf, catalogueText, readCatalogue } from '../task/catalogue/catalogue.ts'
import { type FoundTask, findTasks } from '../task/catalogue/find-tasks.ts'
import { lintTasks } from '../task/lint/lint-tasks.ts'
import { TaskFactory } from '../task/task.ts'
import { escapeLine, table } from '../util/terminal.ts'
import { EXIT_CODES } from './exit-code.ts'
import { type Output, processOutput } from './show/output.ts'
import { taskAlias } from './task-alias.ts'

interface TasksFlags {
  readonly json?: boolean
  readonly lint?: boolean
  readonly catalogue?: string | true
  readonly check?: string | true
}

const CATALOGUE = 'tasks.json'

/** `belljar tasks [DIR]` */
export function addTasksCommand(program: Command, finish: (exitCode: number) => void): void {
  program
    .command('tasks')
    .description('list the tasks of a package, in its nested folders too')
    .argument('[dir]', 'folder of the package', '.')
    .option('--catalogue [file]', `write what they declare to a file (default: DIR/${CATALOGUE})`)
    .option('--check [file]', 'exit with 1 when the catalogue is not what they declare')
    .option(
      '--lint',
      'check the parameters that they declare by the syntax of their modules; runs none of it',
    )
    .option('--json', 'one object a line on stdout')
    .action(async (directory: string, flags: TasksFlags) => finish(await tasks(directory, flags)))
}

async function tasks(directory: string, flags: TasksFlags): Promise<number> {
  const output = processOutput()
  if (flags.lint) return lint(directory, { flags, output })
  const folder = resolve(directory)
  const found = await findTasks(folder, { alias: taskAlias() })
  if (flags.check !== undefined || flags.catalogue !== undefined) {
    const text = catalogueText(await catalogueOf(folder, found))
    const given = flags.check ?? flags.catalogue
    const file = typeof given === 'string' ? given : join(directory, CATALOGUE)
    return flags.check === undefined ? write(file, text, output) : check(file, text, output)
  }
  if (flags.json) for (const task of found) output.json(facts(task))
  else if (found.length === 0) output.line(`no tasks in ${escapeLine(directory)}`)
  else
    output.line(table([['task', 'version', 'parameters', 'file'], ...found.map((task) => row(task, folder))]))
  return EXIT_CODES.success
}

function parametersOf({ task }: FoundTask): string[] {
  return task instanceof TaskFactory ? Object.keys(task.parameters.shape) : []
}

function versionOf({ task }: FoundTask): string | undefined {
  return task instanceof TaskFactory ? task.version : task.definition.version
}

function facts(found: FoundTask) {
  const { id, name, file } = found
  return { type: 'task', id, name, file, version: versionOf(found), parameters: parametersOf(found) }
}

function row(found: FoundTask, folder: string): string[] {
  const parameters = parametersOf(found).join(', ') || '-'
  const file = relative(folder, found.file)
  return [found.id, versionOf(found) ?? '-', parameters, file].map((text) => escapeLine(text, 120))
}

async function write(file: string, text: string, output: Output): Promise<number> {
  const part = `${file}.${randomBytes(4).toString('hex')}.part`
  try {
    await writeFile(part, text, { flag: 'wx' })
    await rename(part, file)
  } catch (cause) {
    await rm(part, { force: true })
    throw new ConfigError(`cannot write the catalogue: ${errorMessage(cause)}`, { where: file, cause })
  }
  output.line(`catalogue: ${escapeLine(file, 400)}`)
  return EXIT_CODES.success
}

async function check(file: string, text: string, output: Output): Promise<number> {
  const before = new Map((await readCatalogue(file)).tasks.map((task) => [task.id, JSON.stringify(task)]))
  if ((await readFile(file, 'utf8')) === text) return EXIT_CODES.success
  const now = new Map(
    (JSON.parse(text) as { tasks: { id: string }[] }).tasks.map((task) => [task.id, JSON.stringify(task)]),
  )
  const ids = [...new Set([...before.keys(), ...now.keys()])].filter((id) => before.get(id) !== now.get(id))
  const changed = ids.map(
    (id) => `  ${escapeLine(id)}: ${!now.has(id) ? 'is gone' : before.has(id) ? 'has changed' : 'is new'}`,
  )
  output.line(
    [`${escapeLine(file, 400)} is out of date; belljar tasks --catalogue writes it anew`, ...changed].join(
      '\n',
    ),
  )
  return EXIT_CODES.sampleErrors
}

async function lint(
  directory: string,
  { flags, output }: { flags: TasksFlags; output: Output },
): Promise<number> {
  const { files, violations } = await lintTasks(resolve(directory))
  for (const violation of violations) {
    const { file, line, task, message } = violation
    if (flags.json) output.json({ type: 'violation', ...violation })
    else
      output.line(
        escapeLine(`${file}:${line}: ${task === undefined ? '' : `task '${task}': `}${message}`, 400),
      )
  }
  if (files === 0) output.line(`skipped: no module in ${escapeLine(directory)} defines a task`)
  else output.line(`${files} ${files === 1 ? 'module' : 'modules'}, ${violations.length} violations`)
  return violations.length > 0 ? EXIT_CODES.sampleErrors : EXIT_CODES.success
}
