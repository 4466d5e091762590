import type { Command } from 'commander'
import { retryPlan } from '../run/resume/retry-plan.ts'
import { positiveInteger } from './arguments.ts'
import { addShownOptions, type ShownFlags } from './options/run-options.ts'
import { runTasks } from './run-tasks.ts'
import { taskAlias } from './task-alias.ts'

interface RetryFlags extends ShownFlags {
  readonly only?: string[]
  readonly maxSamples?: number
  readonly logDir: string
}

/** `belljar retry LOG` */
export function addRetryCommand(program: Command, finish: (exitCode: number) => void): void {
  const command = program
    .command('retry')
    .description('run what a log does not have yet: what failed, and what a killed run did not come to')
    .argument('<log>', 'path of a log, finished or a journal')
    .option('--only <what...>', "only samples whose sandbox failed ('infra'), or whose ids match a pattern")
    .option('--max-samples <n>', 'samples at once', positiveInteger)
    .option('--log-dir <dir>', 'folder of the new log', 'logs')
  addShownOptions(command).action(async (log: string, flags: RetryFlags) => finish(await retry(log, flags)))
}

async function retry(log: string, flags: RetryFlags): Promise<number> {
  const { task, options } = await retryPlan(log, { alias: taskAlias() })
  const { only, maxSamples, logDir } = flags
  return runTasks([task], flags, {
    ...options,
    ...(maxSamples !== undefined && { maxSamples }),
    logDir,
    only: only?.length === 1 && only[0] === 'infra' ? 'infra' : only,
  })
}
