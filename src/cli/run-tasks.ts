import { pino } from 'pino'
import type { RunControls } from '../run/control/eval-control.ts'
import { evaluate, type RunResult } from '../run/evaluate.ts'
import type { EvaluateOptions } from '../run/options.ts'
import type { RunEvent } from '../run/run-event.ts'
import type { SetEvent } from '../run/set/set-event.ts'
import type { LoadedTask } from '../task/load-tasks.ts'
import { escapeLine } from '../util/terminal.ts'
import { EXIT_CODES, exitCode, type StopSignal } from './exit-code.ts'
import type { ShownFlags } from './options/run-options.ts'
import type { EvalNames } from './show/eval-names.ts'
import { type Output, processOutput } from './show/output.ts'
import { Progress } from './show/progress.ts'
import { keptMessage, leftMessage, summary } from './show/summary.ts'
import { StopSignals } from './stop-signals.ts'

/** Runs tasks until they end or a signal comes, and says what came of them. */
export async function runTasks(
  tasks: readonly LoadedTask[],
  flags: ShownFlags,
  options: EvaluateOptions,
): Promise<number> {
  const { result, stopped, shown } = await shownRun(flags, options, (hooks) =>
    evaluate(tasks, { ...options, ...hooks }),
  )
  if (!result) return EXIT_CODES[stopped]
  report(result, shown)
  if (flags.json)
    shown.output.json({ type: 'run-end', run: result.run, left: result.left, kept: result.kept })
  return exitCode(result, stopped)
}

export type RunHooks = Required<Pick<EvaluateOptions, 'signal' | 'onStart'>> & {
  readonly onEvent: (event: RunEvent | SetEvent) => void
}

export interface Shown {
  readonly output: Output
  readonly names: EvalNames
}

/** Does work that runs tasks: stopped by signals, with its progress and events shown. */
export async function shownRun<T>(
  flags: ShownFlags,
  options: Pick<EvaluateOptions, 'reaper'>,
  work: (hooks: RunHooks) => Promise<T>,
): Promise<
  | { result: T; stopped: StopSignal | undefined; shown: Shown }
  | { result: undefined; stopped: StopSignal; shown: Shown }
> {
  const output = processOutput()
  let controls: RunControls | undefined
  using stop = new StopSignals({
    onFirst: (signal) => output.line(`${signal}: stopping; again to leave at once`),
    onLeave: () => output.line(abandonMessage(controls, options)),
  })
  using guard = guardProcess(output)
  const signal = AbortSignal.any([stop.signal, guard.signal])
  const logger = pino({ level: flags.logLevel }, pino.destination(2))
  using progress = new Progress(output, () => controls?.left() ?? [])
  const onEvent = (event: RunEvent | SetEvent) => {
    logger.debug({ event }, event.type)
    progress.take(event)
    if (flags.json) output.json(event)
  }
  const onStart = (control: RunControls) => {
    controls = control
  }
  const shown = { output, names: progress.names }
  try {
    return { result: await work({ signal, onEvent, onStart }), stopped: stop.received, shown }
  } catch (error) {
    if (stop.received === undefined || error !== signal.reason) throw error
    output.line('nothing had been started')
    return { result: undefined, stopped: stop.received, shown }
  }
}

/** What evals came to, and what is left or kept of them. */
export function report(
  { evals, kept, left }: Pick<RunResult, 'evals' | 'kept' | 'left'>,
  { output, names }: Shown,
): void {
  for (const one of evals) names.add(one.eval, one.task, one.header.model)
  for (const one of evals) output.line(`\n${summary({ ...one, name: names.of(one) })}\nlog: ${one.log}`)
  if (kept.length > 0) output.line(`\n${keptMessage(kept)}`)
  if (left.length > 0) output.line(`\n${leftMessage(left)}`)
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
