import { readFile } from 'node:fs/promises'
import { errorMessage } from '../../errors.ts'
import { parseModule, type Syntax } from './syntax.ts'
import { isTaskModule, type TaskSyntax, tasksIn } from './task-syntax.ts'

export interface ModuleSyntax {
  readonly file: string
  readonly module: readonly Syntax[]
  readonly tasks: readonly TaskSyntax[]
  /** Whether tasks are defined as it is loaded. */
  readonly isTaskModule: boolean
  /** Why it could not be parsed. */
  readonly problem?: string
}

/** undefined: a module that has nothing to do with tasks. Nothing of it is run. */
export async function readModule(file: string): Promise<ModuleSyntax | undefined> {
  const text = await readFile(file, 'utf8')
  if (!text.includes('defineTask')) return undefined
  try {
    const module = await parseModule(text)
    const tasks = tasksIn(module)
    return { file, module, tasks, isTaskModule: isTaskModule(module, tasks) }
  } catch (error) {
    return { file, module: [], tasks: [], isTaskModule: false, problem: errorMessage(error) }
  }
}
