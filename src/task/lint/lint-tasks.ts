import { relative } from 'node:path'
import { moduleFiles } from '../catalogue/module-files.ts'
import { readModule } from './read-module.ts'
import { type Violation, violationsOf } from './rules.ts'

export interface LintViolation extends Violation {
  /** Relative to the folder. */
  readonly file: string
  readonly task: string | undefined
}

export interface LintResult {
  /** Modules with calls of `defineTask`. */
  readonly files: number
  readonly violations: readonly LintViolation[]
}

/** Checks spelling and wiring of the parameters that tasks declare, in a folder and those below it. Nothing of theirs is run. */
export async function lintTasks(directory: string): Promise<LintResult> {
  let files = 0
  const violations: LintViolation[] = []
  for (const file of await moduleFiles(directory)) {
    const read = await readModule(file)
    if (!read || (read.tasks.length === 0 && read.problem === undefined)) continue
    files++
    const shown = relative(directory, file)
    if (read.problem !== undefined)
      violations.push({ file: shown, task: undefined, line: 1, message: `cannot be parsed: ${read.problem}` })
    for (const task of read.tasks)
      for (const violation of violationsOf(task, read.module))
        violations.push({ file: shown, task: task.name, ...violation })
  }
  return { files, violations }
}
