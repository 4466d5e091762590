import { type Command, Option } from 'commander'
import { pino } from 'pino'
import type { RunControls } from '../run/control/eval-control.ts'
import { evaluate, type RunResult } from '../run/evaluate.ts'
import type { EvaluateOptions } from '../run/options.ts'
import type { RunEvent } from '../run/run-event.ts'
import { parseSandboxSpec } from '../sample/sandbox-spec.ts'
import type { LeftObject } from '../sandbox/provider.ts'
import { loadNamed } from '../task/catalogue/find-tasks.ts'
import type { LoadedTask } from '../task/load-tasks.ts'
import { escapeLine } from '../util/terminal.ts'
import { EXIT_CODES, exitCode } from './exit-code.ts'
import { addLimitOptions, type LimitFlags, limitOptions } from './limit-options.ts'
import { addModelOptions, type ModelFlags, modelOptions } from './model-options.ts'
import { type Output, processOutput } from './output.ts'
import { Progress } from './progress.ts'
import {
  FSYNC,
  failOnError,
  KEEP,
  positiveInteger,
  type RunFlags,
  sampleLimit,
  taskArgument,
  wholeNumber,
} from './run-options.ts'
import { StopSignals } from './stop-signals.ts'
import { keptMessage, leftMessage, summary } from './summary.ts'
import { taskAlias } from './task-alias.ts'

/** `belljar run FILE..` */
export function addRunCommand(program: Command, finish: (exitCode: number) => void): void {
  const command = program
    .command('run')
    .description('run the tasks that files export')
    .argument('<files...>', 'task files, or names of tasks below this folder')
    .option('-T <key=value>', 'argument of a parametrised task, may be repeated', taskArgument)
  addModelOptions(command)
    .option('--agent <name>', "instead of the tasks' own: oracle, nop, human")
    .option('--sandbox <kind[:config]>', 'sandbox of every task, such as docker:compose.yaml')
    .option('--epochs <n>', 'how often each sample is run', positiveInteger)
    .option('--max-samples <n>', 'samples at once, per task', positiveInteger)
    .option('--max-sandboxes <n>', 'sandboxes at once (default: twice the processors)', positiveInteger)
    .option(
      '--max-starts <n>',
      "sandboxes started at once (default: twice the engine's processors)",
      positiveInteger,
    )
    .option('--max-tasks <n>', 'tasks at once (default: 10)', positiveInteger)
    .option('--limit <n>', 'so many samples of each task, or those at positions a,b', sampleLimit)
    .option('--sample-id <patterns...>', 'samples whose id, or task:id, matches a pattern with * and ?')
  addLimitOptions(command)
    .option('--fail-on-error <v>', 'errors that fail the eval: any, never, a share or a count', failOnError)
    .option('--continue-on-fail', 'errors fail the eval at its end only')
    .option('--retry-on-error <n>', 'further attempts after an error', wholeNumber)
    .option('--retry-infra <n>', 'further attempts after a sandbox failed', wholeNumber)
    .option('--score-on-error', 'score what an agent left that ended with an error')
    .option('--no-build', 'refuse to run where images would have to be built')
    .option('--remove-images', 'remove what was pulled or built for the run, each image after its last use')
    .option('--no-guest', "reach sandboxes through the Engine's own exec")
    .option('--no-reaper', 'start no process that removes what is left when this run is killed')
  addKeepOptions(command)
  command
    .option('--log-dir <dir>', 'folder of the logs', 'logs')
    .addOption(
      new Option('--fsync <when>', 'when the log is forced to the disk').choices(FSYNC).default('records'),
    )
    .option('--log-level <level>', 'diagnostics on stderr: debug, info, warn, error, silent', 'warn')
    .option(
      '--secret <names...>',
      'variables of the environment whose values no log, event or label may show',
    )
    .option('--json', 'events on stdout, one object a line')
    .action(async (files: string[], flags: RunCommandFlags) => finish(await runFiles(files, flags)))
}

/** What outlives a run, of which samples. */
function addKeepOptions(command: Command): void {
  const which = (flag: string, what: string, value: string) =>
    command.addOption(new Option(`--${flag} <which>`, what).choices(KEEP).default(value))
  which('keep', 'sandboxes that are not removed', 'none')
  which('service-logs', 'samples whose service logs are kept beside the log', 'failed')
  which('keep-artifacts', 'samples whose artifacts are kept beside the log', 'all')
}

type RunCommandFlags = RunFlags & ModelFlags & LimitFlags

/** What is shown, and how. */
export type ShownFlags = Pick<RunFlags, 'logLevel' | 'json'>

async function runFiles(files: string[], flags: RunCommandFlags): Promise<number> {
  const options = { parameters: flags.T, alias: taskAlias(), directory: process.cwd() }
  const loaded = await Promise.all(files.map((file) => loadNamed(file, options)))
  const models = await modelOptions(flags)
  const {
    T: _parameters,
    json: _json,
    logLevel: _level,
    sampleId: sampleIds,
    secret,
    build,
    guest,
    ...rest
  } = flags
  return runTasks(loaded.flat(), flags, {
    ...rest,
    ...models,
    limits: limitOptions(flags),
    sampleIds,
    secrets: secret,
    noBuild: build === false,
    transport: guest === false ? 'engine' : 'guest',
    sandbox: flags.sandbox === undefined ? undefined : parseSandboxSpec(flags.sandbox),
  })
}

/** Runs tasks until they end or a signal comes, and says what came of them. */
export async function runTasks(
  tasks: readonly LoadedTask[],
  flags: ShownFlags,
  options: EvaluateOptions,
): Promise<number> {
  const output = processOutput()
  let controls: RunControls | undefined
  using stop = new StopSignals({
    onFirst: (signal) => output.line(`${signal}: stopping; again to leave at once`),
    onLeave: () => output.line(abandonMessage(controls, options)),
  })
  using guard = guardProcess(output)
  const signal = AbortSignal.any([stop.signal, guard.signal])
  try {
    const left = () => controls?.left() ?? []
    const result = await withProgress({ output, flags, left }, (onEvent) => {
      return evaluate(tasks, {
        ...options,
        signal,
        onEvent,
        onStart: (control) => {
          controls = control
        },
      })
    })
    report(result, flags, output)
    return exitCode(result, stop.received)
  } catch (error) {
    if (stop.received === undefined || error !== signal.reason) throw error
    output.line('nothing had been started')
    return EXIT_CODES[stop.received]
  }
}

async function withProgress(
  shown: { output: Output; flags: ShownFlags; left: () => readonly LeftObject[] },
  work: (onEvent: (event: RunEvent) => void) => Promise<RunResult>,
): Promise<RunResult> {
  const { output, flags, left } = shown
  const logger = pino({ level: flags.logLevel }, pino.destination(2))
  using progress = new Progress(output, left)
  return await work((event) => {
    logger.debug({ event }, event.type)
    progress.take(event)
    if (flags.json) output.json(event)
  })
}

function report(result: RunResult, flags: ShownFlags, output: Output): void {
  for (const { header, footer, log } of result.evals)
    output.line(`\n${summary({ header, footer })}\nlog: ${log}`)
  if (result.kept.length > 0) output.line(`\n${keptMessage(result.kept)}`)
  if (result.left.length > 0) output.line(`\n${leftMessage(result.left)}`)
  if (flags.json) output.json({ type: 'run-end', run: result.run, left: result.left, kept: result.kept })
}

/** A promise that user code forgot must not end the run; an exception that nobody caught ends it in order. */
function guardProcess(output: Output): Disposable & { signal: AbortSignal } {
  const controller = new AbortController()
  const forgotten = (reason: unknown) =>
    output.line(`warning: a promise was rejected and nobody handled it: ${escapeLine(String(reason))}`)
  const uncaught = (error: unknown) => {
    output.line(
      `error: uncaught exception: ${escapeLine(error instanceof Error ? (error.stack ?? error.message) : String(error), 2000)}`,
    )
    controller.abort(error)
  }
  process.on('unhandledRejection', forgotten)
  process.on('uncaughtException', uncaught)
  return {
    signal: controller.signal,
    [Symbol.dispose]: () =>
      void process.off('unhandledRejection', forgotten).off('uncaughtException', uncaught),
  }
}

function abandonMessage(controls: RunControls | undefined, { reaper = true }: EvaluateOptions): string {
  if (!controls) return 'left at once; nothing had been started'
  const { run } = controls
  const left = controls.left()
  const filter = `--filter label=belljar.run=${run}`
  return [
    ...(left.length > 0 ? [leftMessage(left)] : []),
    reaper
      ? 'left at once; the reaper removes what is left of this run. By hand:'
      : 'left at once; to remove what is left of this run:',
    `  docker rm -fv $(docker ps -aq ${filter})`,
    `  docker network rm $(docker network ls -q ${filter}); docker volume rm $(docker volume ls -q ${filter})`,
  ].join('\n')
}
