import { setMaxListeners } from 'node:events'
import { ConfigError } from '../errors.ts'
import { Limiter } from '../limit/limiter.ts'
import { Journal } from '../log/journal.ts'
import type { HeaderRecord } from '../log/records.ts'
import type { LeftObject, ResolvedConfig, SandboxProvider } from '../sandbox/provider.ts'
import { SandboxManager } from '../sandbox/sandbox-manager.ts'
import { type LoadedTask, taskFromCode } from '../task/load-tasks.ts'
import { Task } from '../task/task.ts'
import { ProviderRegistry } from './config/provider-registry.ts'
import { droppedConfig } from './config/sandbox-choice.ts'
import { runHeader } from './header.ts'
import type { EvaluateOptions } from './options.ts'
import { resolveTask } from './resolved-task.ts'
import { type EvalResult, EvalRun } from './run-eval.ts'
import { logFileName, newEvalId, newRunId } from './run-ids.ts'

/** How a run ended. */
export interface RunResult {
  readonly run: string
  /** In the order of the tasks. */
  readonly evals: readonly EvalResult[]
  /** What could not be removed. */
  readonly left: readonly LeftObject[]
}

const DEFAULT_MAX_TASKS = 10
const MAX_SAMPLES_WITHOUT_SANDBOX = 25

/**
 * Runs tasks, each as one eval with a log of its own, and removes everything that it made.
 * @throws ConfigError before anything is started; what happens later is in the result
 */
export async function evaluate(
  tasks: Task | readonly (Task | LoadedTask)[],
  options: EvaluateOptions = {},
): Promise<RunResult> {
  const loaded = (tasks instanceof Task ? [tasks] : tasks).map((task) =>
    task instanceof Task ? taskFromCode(task) : task,
  )
  if (loaded.length === 0) throw new ConfigError('no task to run')
  checkCounts(options)
  if (options.signal) setMaxListeners(0, options.signal)
  const run = newRunId()
  const manager = new SandboxManager({ run, maxSandboxes: options.maxSandboxes, sleep: options.sleep })
  const providers = new ProviderRegistry(options.providers)
  try {
    const prepared = await prepareAll(loaded, { run, manager, providers, options })
    options.onEvent?.({
      type: 'run-start',
      run,
      tasks: prepared.map(({ evaluation }) => evaluation.task.name),
      maxSandboxes: manager.maxSandboxes,
    })
    const limiter = new Limiter(options.maxTasks ?? DEFAULT_MAX_TASKS)
    const evals = await Promise.all(prepared.map((eval_) => runLimited(eval_, limiter, options)))
    return { run, evals, left: await manager.shutdown() }
  } finally {
    await manager.shutdown()
    await providers.close()
  }
}

function checkCounts(options: EvaluateOptions): void {
  for (const name of ['epochs', 'maxSamples', 'maxSandboxes', 'maxTasks'] as const) {
    const value = options[name]
    if (value === undefined || (Number.isInteger(value) && value >= 1)) continue
    throw new ConfigError(`expected a whole number of at least 1, got ${value}`, { where: name })
  }
}

interface Preparation {
  readonly run: string
  readonly manager: SandboxManager
  readonly providers: ProviderRegistry
  readonly options: EvaluateOptions
}

interface PreparedEval {
  readonly evaluation: EvalRun
  readonly journal: Journal
  readonly header: HeaderRecord
}

/** Everything that can be found wrong is, before the first log is made. */
async function prepareAll(loaded: readonly LoadedTask[], preparation: Preparation): Promise<PreparedEval[]> {
  const { options } = preparation
  const resolved = await Promise.all(loaded.map((task) => resolveTask(task, options)))
  const evals = resolved.map((task) => {
    const { run, manager, providers } = preparation
    const evalId = newEvalId()
    const providerOf = (kind: string): Promise<SandboxProvider> => providers.get(kind)
    return {
      evalId,
      task,
      evaluation: new EvalRun(task, {
        run,
        eval: evalId,
        manager,
        providerOf,
        maxSamples: maxSamplesOf(task, preparation),
        options,
      }),
    }
  })
  const sandboxes = await Promise.all(evals.map(({ evaluation }) => evaluation.resolveSandboxes()))
  return Promise.all(
    evals.map(({ evaluation, evalId }, index) =>
      open(evaluation, { ...preparation, evalId, sandboxes: sandboxes[index] ?? [] }),
    ),
  )
}

async function open(
  evaluation: EvalRun,
  preparation: Preparation & { evalId: string; sandboxes: ResolvedConfig[] },
): Promise<PreparedEval> {
  const { run, manager, options, evalId, sandboxes } = preparation
  const { task } = evaluation
  const maxSamples = maxSamplesOf(task, preparation)
  const header = runHeader({
    run,
    eval: evalId,
    task,
    options,
    maxSandboxes: manager.maxSandboxes,
    maxSamples,
    sandboxes,
  })
  const journal = await Journal.create(
    options.logDir ?? 'logs',
    logFileName(header.createdAt, task.name, evalId),
  )
  await journal.append(header)
  options.onEvent?.({ type: 'eval-start', task: task.name, eval: evalId, log: journal.path, header })
  const dropped = droppedConfig(task.sandbox)
  if (dropped !== undefined)
    options.onEvent?.({ type: 'note', task: task.name, level: 'warning', message: dropped })
  return { evaluation, journal, header }
}

async function runLimited(
  { evaluation, journal, header }: PreparedEval,
  limiter: Limiter,
  options: EvaluateOptions,
): Promise<EvalResult> {
  using _slot = await limiter.acquire({ signal: options.signal }).catch(() => undefined)
  return evaluation.run(journal, header)
}

function maxSamplesOf(
  { task, sandbox, seed, source }: Parameters<typeof runHeader>[0]['task'],
  { manager, options }: Preparation,
): number {
  const given = options.maxSamples ?? task.definition.maxSamples
  if (given !== undefined) return given
  const mayUseSandbox =
    sandbox.run || sandbox.task || sandbox.discovered || source || seed.some(({ sample }) => sample.sandbox)
  return mayUseSandbox ? manager.maxSandboxes : MAX_SAMPLES_WITHOUT_SANDBOX
}
