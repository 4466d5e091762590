import type { ModelCalls } from '../agent/calls/model-calls.ts'
import { ConfigError } from '../errors.ts'
import type { HeaderRecord } from '../log/records/records.ts'
import { LogWriter, type LogWriterOptions } from '../log/write/log-writer.ts'
import type { ResolvedConfig, SandboxProvider } from '../sandbox/provider.ts'
import type { SandboxManager } from '../sandbox/sandbox-manager.ts'
import { type LoadedTask, taskFromCode } from '../task/load-tasks.ts'
import { claimSource } from '../task/sample-source.ts'
import { declaredSecrets } from '../task/secrets.ts'
import { Task } from '../task/task.ts'
import type { SecretMask } from '../util/secret-mask.ts'
import type { ProviderRegistry } from './config/provider-registry.ts'
import { droppedConfig } from './config/sandbox-choice.ts'
import type { SandboxWaits } from './dispatch/sandbox-waits.ts'
import type { EvalResult, EvalStart } from './eval-parts.ts'
import { runHeader } from './header.ts'
import type { EvaluateOptions } from './options.ts'
import { type ResolvedTask, resolveTask, setUp } from './resolved-task.ts'
import { type Resumed, type ResumeRequest, resumeEval } from './resume/resume-eval.ts'
import { EvalRun } from './run-eval.ts'
import { logName, newEvalId } from './run-ids.ts'

const MAX_SAMPLES_WITHOUT_SANDBOX = 25

export interface PreparationOptions {
  readonly run: string
  readonly manager: SandboxManager
  readonly waits: SandboxWaits
  readonly calls: ModelCalls
  readonly providers: ProviderRegistry
  readonly options: EvaluateOptions
  readonly secrets: SecretMask
}

/** An eval that is about to run, or that has ended in the log that it was to resume. */
export type PreparedEval = {
  readonly task: string
  readonly evaluation: EvalRun
} & (
  | { readonly start: Omit<EvalStart, 'onRecord'>; readonly ended?: undefined }
  | { readonly start?: undefined; readonly ended: EvalResult }
)

/** A task with the options of one of its evals: the run's, with one model. */
interface ResolvedEval {
  readonly task: ResolvedTask
  readonly options: EvaluateOptions
}

/** Makes evals of tasks. Everything that can be found wrong is, before the first log is made. */
export class EvalPreparation implements AsyncDisposable {
  readonly #parts: PreparationOptions
  readonly #claims: Disposable[] = []
  readonly #priors: AsyncDisposable[] = []

  constructor(parts: PreparationOptions) {
    this.#parts = parts
  }

  /** @throws ConfigError, DuplicateSampleError */
  async prepare(tasks: readonly (Task | LoadedTask)[]): Promise<PreparedEval[]> {
    const loaded = tasks.map((task) => (task instanceof Task ? taskFromCode(task) : task))
    for (const { task } of loaded)
      this.#parts.secrets.add(declaredSecrets(task.definition.secrets ?? [], process.env))
    const planned = loaded.flatMap((task) => this.#withModels(task).map((options) => ({ task, options })))
    const resolved = await Promise.all(
      planned.map(async ({ task, options }) => ({ task: await resolveTask(task, options), options })),
    )
    for (const { task } of resolved) await setUp(task)
    for (const one of resolved) this.#claim(one)
    const evaluations = resolved.map((one) => ({ ...one, evaluation: this.#evaluation(one) }))
    const sandboxes = await Promise.all(evaluations.map(({ evaluation }) => sandboxesOf(evaluation)))
    if (this.#parts.options.noBuild) await this.#checkBuilt(sandboxes.flat())
    // No log is begun before it is certain that all others can be resumed.
    const resumed = await Promise.all(
      evaluations.map(async (one, index) => ({ one, ...(await this.#resumed(one, sandboxes[index] ?? [])) })),
    )
    return Promise.all(resumed.map(({ one, header, resumed }) => this.#open(one, header, resumed)))
  }

  /** Patterns of ids that nothing matches are a mistake, unless samples are still to be made. @throws ConfigError */
  checkSelected(prepared: readonly PreparedEval[]): void {
    const { sampleIds } = this.#parts.options
    const hasAny = ({ evaluation: { task } }: PreparedEval) => task.source || task.seed.length > 0
    if (!sampleIds || prepared.length === 0 || prepared.some(hasAny)) return
    throw new ConfigError(`no sample has an id that matches ${sampleIds.join(', ')}`, { where: 'sample ids' })
  }

  /** Sources may drive other evals again, logs be resumed again. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const claim of this.#claims) claim[Symbol.dispose]()
    for (const prior of this.#priors) await prior[Symbol.asyncDispose]()
  }

  /** @throws ConfigError that lists every image which would have to be built */
  async #checkBuilt(configs: readonly ResolvedConfig[]): Promise<void> {
    const distinct = [...new Map(configs.map((config) => [config.key, config])).values()]
    const missing = await Promise.all(
      distinct.map(
        async (config) => (await this.#parts.providers.get(config.kind)).missingImages?.(config) ?? [],
      ),
    )
    const lines = missing.flat().map((line) => `  ${line}`)
    if (lines.length > 0)
      throw new ConfigError(`nothing may be built, but these images are missing:\n${lines.join('\n')}`)
  }

  /** The options of the run, once for each of its models; a task may name its own. */
  #withModels({ model }: LoadedTask): readonly EvaluateOptions[] {
    const { options } = this.#parts
    if (model !== undefined) return [{ ...options, models: undefined, model }]
    return options.models?.map((model) => ({ ...options, model })) ?? [options]
  }

  #claim({ task: { source, name, model, models }, options }: ResolvedEval): void {
    if (!source) return
    const isOneOfMany = model !== undefined || (options.models?.length ?? 0) > 1
    const owner = isOneOfMany ? `task '${name}' with model '${models.model?.name}'` : `task '${name}'`
    this.#claims.push(claimSource(source, owner))
  }

  #evaluation({ task, options }: ResolvedEval): EvalRun {
    const providerOf = (kind: string): Promise<SandboxProvider> => this.#parts.providers.get(kind)
    const maxSamples = this.#maxSamples(task)
    return new EvalRun(task, { ...this.#parts, options, eval: newEvalId(), providerOf, maxSamples })
  }

  async #resumed(
    { evaluation, task, options }: ResolvedEval & { evaluation: EvalRun },
    sandboxes: ResolvedConfig[],
  ): Promise<{ header: HeaderRecord; resumed: Resumed | undefined }> {
    const { run, manager } = this.#parts
    const { control } = evaluation
    const { maxSandboxes } = manager
    const { eval: evalId, maxSamples } = control
    const header = await runHeader({ run, eval: evalId, task, options, maxSandboxes, maxSamples, sandboxes })
    const path = task.resume ?? options.resume
    return {
      header,
      resumed: path === undefined ? undefined : await this.#resume(path, { evaluation, header }),
    }
  }

  async #open(
    { evaluation, task, options }: ResolvedEval & { evaluation: EvalRun },
    header: HeaderRecord,
    resumed: Resumed | undefined,
  ): Promise<PreparedEval> {
    const { eval: evalId } = evaluation.control
    if (resumed?.kind === 'complete') return this.#ended(evaluation, resumed)
    const start = resumed ? await this.#continue(task, resumed) : await this.#begin(task, header)
    const { finishedPath: log } = start.journal
    options.onEvent?.({ type: 'eval-start', task: task.name, eval: evalId, log, header: start.header })
    const message = droppedConfig(task.sandbox)
    for (const warning of [...(resumed?.warnings ?? []), message])
      if (warning !== undefined) this.#warner(task.name, evalId)(warning)
    return { task: task.name, evaluation, start }
  }

  async #resume(path: string, request: Omit<ResumeRequest, 'only'>): Promise<Resumed> {
    const resumed = await resumeEval(path, { ...request, only: this.#parts.options.only })
    if (resumed.kind === 'goes-on') this.#priors.push(resumed.reuse.prior)
    return resumed
  }

  async #begin({ name }: ResolvedTask, header: HeaderRecord) {
    const { logDir = 'logs' } = this.#parts.options
    const journal = await LogWriter.open(
      logDir,
      logName(header.createdAt, name, header.eval),
      this.#writing(name, header.eval),
    )
    await journal.append(header)
    return { journal, header }
  }

  async #continue({ name }: ResolvedTask, { header, reuse, carried }: Resumed & { kind: 'goes-on' }) {
    const { logDir = 'logs' } = this.#parts.options
    const named = logName(header.createdAt, name, header.eval)
    const journal = await LogWriter.continue(logDir, named, {
      ...this.#writing(name, header.eval),
      header,
      carried,
    })
    return { journal, header, reuse }
  }

  #ended(evaluation: EvalRun, { log, header, footer }: Resumed & { kind: 'complete' }): PreparedEval {
    const { name: task } = evaluation.task
    const { onEvent } = this.#parts.options
    const message = `complete already, nothing is run: ${log}`
    onEvent?.({ type: 'note', task, eval: header.eval, level: 'info', message })
    return {
      task,
      evaluation,
      ended: { task, eval: header.eval, status: footer.status, log, header, footer, wasComplete: true },
    }
  }

  #writing(task: string, evalId: string): LogWriterOptions {
    const { options, secrets } = this.#parts
    return { fsync: options.fsync, mask: (json) => secrets.json(json), warn: this.#warner(task, evalId) }
  }

  #warner(task: string, evalId: string): (message: string) => void {
    return (message) =>
      this.#parts.options.onEvent?.({ type: 'note', task, eval: evalId, level: 'warning', message })
  }

  #maxSamples({ task, sandbox, seed, source }: ResolvedTask): number {
    const { manager, options } = this.#parts
    const given = options.maxSamples ?? task.definition.maxSamples
    if (given !== undefined) return given
    const mayUseSandbox =
      sandbox.run ||
      sandbox.task ||
      sandbox.discovered ||
      task.verifier ||
      source ||
      seed.some(({ sample }) => sample.sandbox)
    return mayUseSandbox ? manager.maxSandboxes : MAX_SAMPLES_WITHOUT_SANDBOX
  }
}

/** @throws ConfigError that says whose sandbox it is */
async function sandboxesOf(evaluation: EvalRun): Promise<ResolvedConfig[]> {
  try {
    return await evaluation.resolveSandboxes()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.message, { where: `task '${evaluation.task.name}'`, cause: error })
  }
}
