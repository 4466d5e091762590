import { type Command, InvalidArgumentError } from 'commander'
import { evaluateSet } from '../run/set/evaluate-set.ts'
import type { SetPart } from '../run/set/plan/set-part.ts'
import { loadNamed } from '../task/catalogue/find-tasks.ts'
import type { LoadedTask } from '../task/load-tasks.ts'
import { wholeNumber } from './arguments.ts'
import { EXIT_CODES, setExitCode } from './exit-code.ts'
import { addRunOptions, evaluateOptions, type RunFlags } from './options/run-options.ts'
import { report, shownRun } from './run-tasks.ts'
import { setSummary } from './show/set-message.ts'
import { taskAlias } from './task-alias.ts'

interface SetFlags extends RunFlags {
  readonly retryAttempts?: number
  readonly retryWait?: number
  readonly part?: SetPart
  readonly allowForeignLogs?: boolean
}

/** `belljar set FILE..` */
export function addSetCommand(program: Command, finish: (exitCode: number) => void): void {
  const command = program
    .command('set')
    .description('run tasks until each has a complete log in a folder')
    .argument('<files...>', 'task files, or names of tasks below this folder')
    .requiredOption('--log-dir <dir>', 'folder of the logs of the set, and of no others')
    .option('--retry-attempts <n>', 'further attempts at what is not complete (default: 10)', wholeNumber)
    .option(
      '--retry-wait <s>',
      'seconds before the first of them; doubled each time, up to an hour (default: 30)',
      wholeNumber,
    )
    .option('--part <n/of>', 'only a part of the set, such as 2/3: for several machines', partArgument)
    .option('--allow-foreign-logs', 'leave logs in the folder alone that are of no task of the set')
  addRunOptions(command).action(async (files: string[], flags: SetFlags) =>
    finish(await runSet(files, flags)),
  )
}

async function runSet(files: string[], flags: SetFlags): Promise<number> {
  const { retryAttempts, retryWait, part, allowForeignLogs } = flags
  const options = {
    ...(await evaluateOptions(flags)),
    ...{ retryAttempts, part, allowForeignLogs },
    retryWaitMs: retryWait === undefined ? undefined : retryWait * 1000,
  }
  const { result, stopped, shown } = await shownRun(flags, options, (hooks) =>
    evaluateSet(taskMaker(files, flags), { ...options, ...hooks }),
  )
  if (!result) return EXIT_CODES[stopped]
  const evals = result.tasks.flatMap(({ eval: last }) => (last && !last.wasComplete ? [last] : []))
  report({ ...result, evals }, shown)
  shown.output.line(`\n${setSummary(result.tasks)}`)
  return setExitCode(result, stopped)
}

/** Loads the tasks, and each further time anew. */
function taskMaker(files: readonly string[], { T: parameters }: SetFlags): () => Promise<LoadedTask[]> {
  let isLoaded = false
  return async () => {
    const options = { parameters, alias: taskAlias(), directory: process.cwd(), fresh: isLoaded }
    isLoaded = true
    return (await Promise.all(files.map((file) => loadNamed(file, options)))).flat()
  }
}

function partArgument(text: string): SetPart {
  const [, number, of] = /^(\d+)\/(\d+)$/.exec(text) ?? []
  if (number === undefined || of === undefined)
    throw new InvalidArgumentError("expected a part and how many there are, such as '2/3'.")
  return { number: Number(number), of: Number(of) }
}
