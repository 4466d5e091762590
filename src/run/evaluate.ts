import { setMaxListeners } from 'node:events'
import { ModelCalls } from '../agent/calls/model-calls.ts'
import { ResponseCache } from '../agent/calls/response-cache.ts'
import { ConfigError } from '../errors.ts'
import type { KeptSandbox, LeftObject, RunClaim } from '../sandbox/provider.ts'
import { SandboxManager } from '../sandbox/sandbox-manager.ts'
import type { LoadedTask } from '../task/load-tasks.ts'
import { declaredSecrets, environmentSecrets } from '../task/secrets.ts'
import type { Task } from '../task/task.ts'
import { TaskSource } from '../task/task-source.ts'
import { SecretMask } from '../util/secret-mask.ts'
import { checkOptions } from './check-options.ts'
import { ProviderRegistry } from './config/provider-registry.ts'
import { checkSelection } from './dispatch/sample-selection.ts'
import { SandboxWaits } from './dispatch/sandbox-waits.ts'
import type { EvalResult } from './eval-parts.ts'
import { EvalPreparation } from './eval-preparation.ts'
import type { EvaluateOptions } from './options.ts'
import type { RunEvent } from './run-event.ts'
import { newRunId } from './run-ids.ts'
import { TaskDispatcher } from './task-dispatcher.ts'

/** How a run ended. */
export interface RunResult {
  readonly run: string
  /** In the order of the tasks. */
  readonly evals: readonly EvalResult[]
  /** What could not be removed. */
  readonly left: readonly LeftObject[]
  /** What was not removed because it was to be kept. */
  readonly kept: readonly KeptSandbox[]
}

const DEFAULT_MAX_TASKS = 10

/**
 * Runs tasks, each as one eval with a log of its own, and removes everything that it made.
 * @throws ConfigError before anything is started; what happens later is in the result
 */
export async function evaluate(
  tasks: Task | TaskSource | readonly (Task | LoadedTask)[],
  options: EvaluateOptions = {},
): Promise<RunResult> {
  const { onEvent } = options
  const secrets = new SecretMask()
  try {
    secrets.add(declaredSecrets(options.secrets ?? [], process.env))
    secrets.add(environmentSecrets(process.env))
    const told = onEvent && ((event: RunEvent) => onEvent(secrets.value(event)))
    return secrets.value(await runTasks(tasks, { ...options, onEvent: told }, secrets))
  } catch (error) {
    secrets.error(error)
    throw error
  }
}

async function runTasks(
  tasks: Task | TaskSource | readonly (Task | LoadedTask)[],
  options: EvaluateOptions,
  secrets: SecretMask,
): Promise<RunResult> {
  const source = tasks instanceof TaskSource ? tasks : TaskSource.fromTasks([tasks].flat())
  const initial = source.initialTasks()
  if (initial.length === 0 && !(tasks instanceof TaskSource)) throw new ConfigError('no task to run')
  if (options.resume !== undefined && initial.length !== 1)
    throw new ConfigError(`a log is of one task, and there are ${initial.length}`, { where: 'resume' })
  checkOptions(options)
  checkSelection(options)
  if (options.signal) setMaxListeners(Number.POSITIVE_INFINITY, options.signal)
  const run = newRunId()
  const { keep, sleep, maxSandboxes, removeImages } = options
  const manager = new SandboxManager({ run, maxSandboxes, sleep, keep, cleanEarly: removeImages })
  const providers = new ProviderRegistry(runClaim(run, options), options.providers, {
    noBuild: options.noBuild,
    removeImages,
    transport: options.transport,
    maxStarts: options.maxStarts,
    maxCalls: options.maxEngineCalls,
    signal: options.signal,
  })
  const calls = new ModelCalls({
    maxConnections: options.maxConnections,
    cache: options.cache && new ResponseCache(options.cache),
    sleep,
  })
  await using preparation = new EvalPreparation({
    run,
    manager,
    waits: new SandboxWaits(),
    calls,
    providers,
    options,
    secrets,
  })
  try {
    const prepared = await preparation.prepare(initial)
    preparation.checkSelected(prepared)
    const { maxSandboxes } = manager
    options.onEvent?.({ type: 'run-start', run, tasks: prepared.map(({ task }) => task), maxSandboxes })
    const dispatcher = new TaskDispatcher({
      run,
      source,
      preparation,
      connections: calls.connections,
      maxTasks: options.maxTasks ?? DEFAULT_MAX_TASKS,
      left: () => manager.pending,
      options,
    })
    const evals = await dispatcher.run(prepared)
    return { run, evals, left: await manager.shutdown(options.signal), kept: manager.kept }
  } finally {
    await manager.shutdown(options.signal)
    await providers.close(options.signal)
  }
}

function runClaim(run: string, { keep, reaper, onEvent }: EvaluateOptions): RunClaim {
  return { run, keep, reaper, note: (level, message) => onEvent?.({ type: 'run-note', level, message }) }
}
