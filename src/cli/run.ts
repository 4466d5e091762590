import type { Command } from 'commander'
import { loadNamed } from '../task/catalogue/find-tasks.ts'
import { addRunOptions, evaluateOptions, type RunFlags } from './options/run-options.ts'
import { runTasks } from './run-tasks.ts'
import { taskAlias } from './task-alias.ts'

/** `belljar run FILE..` */
export function addRunCommand(program: Command, finish: (exitCode: number) => void): void {
  const command = program
    .command('run')
    .description('run the tasks that files export')
    .argument('<files...>', 'task files, or names of tasks below this folder')
  addRunOptions(command)
    .option('--log-dir <dir>', 'folder of the logs', 'logs')
    .action(async (files: string[], flags: RunFlags) => finish(await runFiles(files, flags)))
}

async function runFiles(files: string[], flags: RunFlags): Promise<number> {
  const options = { parameters: flags.T, alias: taskAlias(), directory: process.cwd() }
  const loaded = await Promise.all(files.map((file) => loadNamed(file, options)))
  return runTasks(loaded.flat(), flags, await evaluateOptions(flags))
}
