import { ConfigError } from '../../errors.ts'
import type { KeptSandbox, LeftObject } from '../../sandbox/provider.ts'
import { type LoadedTask, taskFromCode } from '../../task/load-tasks.ts'
import { declaredSecrets } from '../../task/secrets.ts'
import { Task } from '../../task/task.ts'
import { sleep } from '../../util/abort.ts'
import type { SecretMask } from '../../util/secret-mask.ts'
import { evaluate } from '../evaluate.ts'
import type { EvaluateOptions } from '../options.ts'
import type { RunEvent } from '../run-event.ts'
import { retryPauseMs } from './retry-pause.ts'
import { SampleErrors } from './sample-errors.ts'
import { SetEntry } from './set-entry.ts'
import type { SetEvent } from './set-event.ts'
import { SetFolder } from './set-folder.ts'
import {
  checkSources,
  RETRY_ATTEMPTS,
  RETRY_WAIT_MS,
  type SetOptions,
  type SetResult,
  type SetTasks,
} from './set-options.ts'
import { ofPart } from './set-part.ts'
import { checkDistinct, describeTask, type SetTask, setTaskOf } from './set-task.ts'
import { removeSuperseded } from './superseded.ts'

/** A set of evals in a folder of its own, attempt after attempt. */
export class EvalSet {
  readonly #tasks: SetTasks
  readonly #options: SetOptions
  readonly #secrets: SecretMask
  readonly #folder: SetFolder
  readonly #entries: readonly SetEntry[]
  readonly #left: LeftObject[] = []
  readonly #kept: KeptSandbox[] = []

  private constructor(
    tasks: SetTasks,
    options: SetOptions,
    parts: { secrets: SecretMask; folder: SetFolder; entries: readonly SetEntry[] },
  ) {
    this.#tasks = tasks
    this.#options = options
    this.#secrets = parts.secrets
    this.#folder = parts.folder
    this.#entries = parts.entries
  }

  /** @throws ConfigError */
  static async open(tasks: SetTasks, options: SetOptions, secrets: SecretMask): Promise<EvalSet> {
    const all = await setTasks(tasks, options, secrets)
    checkDistinct(all)
    const folder = await SetFolder.open(options, all)
    const own = ofPart(all, options.part)
    const entries = own.map((task) => new SetEntry(task, folder.logs.byKey.get(task.key) ?? []))
    return new EvalSet(tasks, options, { secrets, folder, entries })
  }

  async run(): Promise<SetResult> {
    const { retryAttempts = RETRY_ATTEMPTS, retryWaitMs = RETRY_WAIT_MS, signal } = this.#options
    const { set, logDir } = this.#folder
    this.#tell({ type: 'set-start', set, tasks: this.#entries.length, logDir })
    for (const { path, problem } of this.#folder.logs.empty)
      this.#tell({ type: 'set-note', level: 'warning', message: `${path} is left alone: ${problem}` })
    for (let attempt = 1; this.#pending.length > 0; attempt++) {
      await this.#attempt(attempt)
      if (signal?.aborted || this.#pending.length === 0) break
      if (attempt > retryAttempts) for (const entry of this.#entries) entry.usedUp()
      else if (!(await this.#pause(retryPauseMs(attempt, retryWaitMs)))) break
    }
    await this.#save()
    const tasks = this.#entries.map((entry) => entry.toResult())
    const complete = tasks.filter(({ state }) => state === 'complete').length
    this.#tell({ type: 'set-end', set, complete, tasks: tasks.length })
    return { set, isComplete: complete === tasks.length, tasks, left: this.#left, kept: this.#kept }
  }

  get #pending(): SetEntry[] {
    return this.#entries.filter(({ isPending }) => isPending)
  }

  /** One run of all that is not complete. */
  async #attempt(attempt: number): Promise<void> {
    const pending = this.#pending
    if (attempt > 1) await this.#makeAnew(pending)
    for (const entry of pending) entry.begin()
    this.#tell({ type: 'set-attempt', attempt, tasks: pending.map(nameOf) })
    const errors = new SampleErrors()
    try {
      const { evals, left, kept } = await evaluate(
        pending.map(({ task, log }) => ({ ...task.loaded, resume: log })),
        this.#evaluateOptions(errors),
      )
      this.#left.push(...left)
      this.#kept.push(...kept)
      for (const [index, entry] of pending.entries()) {
        const result = evals[index]
        if (result) entry.ended(result, errors.of(result.eval))
      }
    } catch (error) {
      for (const entry of pending) entry.broken(error)
      // Of a set that could not be begun nothing is written.
      if (attempt > 1) await this.#save()
      throw error
    }
    await this.#save()
    for (const entry of pending) if (!this.#options.signal?.aborted) await this.#clean(entry)
  }

  #evaluateOptions(errors: SampleErrors): EvaluateOptions {
    const { retryAttempts: _a, retryWaitMs: _w, part: _p, allowForeignLogs: _f, ...options } = this.#options
    const onEvent = (event: RunEvent) => {
      errors.take(event)
      if (event.type === 'run-start') void this.#save().catch(() => undefined)
      options.onEvent?.(event)
    }
    const given = options.model ?? options.models
    // Each entry names its own.
    return {
      ...options,
      set: this.#folder.set,
      onEvent,
      ...(given && { model: undefined, models: undefined }),
    }
  }

  /** What a process had in memory of its tasks is not carried into another attempt. @throws ConfigError */
  async #makeAnew(pending: readonly SetEntry[]): Promise<void> {
    const made = await setTasks(this.#tasks, this.#options, this.#secrets)
    for (const entry of pending) {
      const again = made.find(({ key }) => key === entry.task.key)
      if (!again) throw new ConfigError(`${nameOf(entry)} is no part of the set any more`)
      entry.task = again
    }
  }

  async #clean(entry: SetEntry): Promise<void> {
    const { log, superseded } = entry
    if (log !== undefined) {
      const { removed, kept } = await removeSuperseded(superseded, log)
      for (const old of removed) {
        entry.forget(old)
        this.#tell({ type: 'set-removed', log: old, keptIn: log })
      }
      for (const { log: old, why } of kept)
        this.#tell({ type: 'set-note', level: 'warning', message: `${old} was not removed: ${why}` })
    }
    entry.keepLog()
  }

  /** Returns whether the set goes on. */
  async #pause(ms: number): Promise<boolean> {
    const { signal, sleep: pause = sleep } = this.#options
    this.#tell({ type: 'set-pause', ms, again: this.#pending.map(nameOf) })
    await pause(ms, signal).catch(() => undefined)
    return !signal?.aborted
  }

  #save(): Promise<void> {
    return this.#folder.save(this.#entries.map((entry) => entry.toManifest()))
  }

  #tell(event: SetEvent): void {
    this.#options.onEvent?.(event)
  }
}

function nameOf({ task }: SetEntry): string {
  return describeTask(task)
}

/** Every task with each model. @throws ConfigError */
async function setTasks(tasks: SetTasks, options: SetOptions, secrets: SecretMask): Promise<SetTask[]> {
  const given = typeof tasks === 'function' ? await tasks() : tasks
  if (typeof tasks !== 'function') checkSources(given)
  const loaded: LoadedTask[] = [given]
    .flat()
    .map((task) => (task instanceof Task ? taskFromCode(task) : task))
  if (loaded.length === 0) throw new ConfigError('no task to run')
  for (const { task } of loaded) secrets.add(declaredSecrets(task.definition.secrets ?? [], process.env))
  const models = options.models ?? [options.model]
  const made = loaded.flatMap((task) =>
    models.map((model) => setTaskOf(task, model ?? task.model, (value) => secrets.value(value))),
  )
  return Promise.all(made)
}
