import { ConfigError } from '../../errors.ts'
import type { KeptSandbox, LeftObject } from '../../sandbox/provider.ts'
import { type LoadedTask, taskFromCode } from '../../task/load-tasks.ts'
import { declaredSecrets } from '../../task/secrets.ts'
import { Task } from '../../task/task.ts'
import { sleep } from '../../util/abort.ts'
import type { SecretMask } from '../../util/secret-mask.ts'
import type { EvalResult } from '../eval-parts.ts'
import { SetFolder } from './folder/set-folder.ts'
import { removeSuperseded } from './folder/superseded.ts'
import type { AttemptVerdict } from './plan/attempt-verdict.ts'
import { retryPauseMs } from './plan/retry-pause.ts'
import { ofPart } from './plan/set-part.ts'
import { checkDistinct, type SetTask, setTaskOf, taskFinder } from './plan/set-task.ts'
import type { SampleErrors } from './sample-errors.ts'
import { SetEntry } from './set-entry.ts'
import type { SetEvent } from './set-event.ts'
import {
  checkAnew,
  checkSources,
  RETRY_ATTEMPTS,
  RETRY_WAIT_MS,
  type SetOptions,
  type SetResult,
  type SetTasks,
} from './set-options.ts'
import { SetRun } from './set-run.ts'

/** A set of evals in a folder of its own: run after run, until all are complete or trying again is of no use. */
export class EvalSet {
  readonly options: SetOptions
  readonly folder: SetFolder
  readonly #tasks: SetTasks
  readonly #secrets: SecretMask
  readonly #entries: readonly SetEntry[]
  readonly #taskOf: ReturnType<typeof taskFinder>
  readonly #left: LeftObject[] = []
  readonly #kept: KeptSandbox[] = []
  #making: Promise<unknown> = Promise.resolve()

  private constructor(
    tasks: SetTasks,
    options: SetOptions,
    parts: { secrets: SecretMask; folder: SetFolder; entries: readonly SetEntry[] },
  ) {
    this.#tasks = tasks
    this.options = options
    this.#secrets = parts.secrets
    this.folder = parts.folder
    this.#entries = parts.entries
    this.#taskOf = taskFinder(parts.entries.map(({ task }) => task))
  }

  /** Of tasks that have been made. @throws ConfigError */
  static async open(
    { tasks, all, secrets }: { tasks: SetTasks; all: readonly SetTask[]; secrets: SecretMask },
    options: SetOptions,
  ): Promise<EvalSet> {
    const folder = await SetFolder.open(options, all)
    const own = ofPart(all, options.part)
    const entries = own.map((task) => new SetEntry(task, folder.logs.byKey.get(task.key) ?? []))
    return new EvalSet(tasks, options, { secrets, folder, entries })
  }

  async run(): Promise<SetResult> {
    const { set, logDir, logs } = this.folder
    this.tell({ type: 'set-start', set, tasks: this.#entries.length, logDir })
    for (const { path, problem } of logs.empty)
      this.tell({ type: 'set-note', level: 'warning', message: `${path} is left alone: ${problem}` })
    let isFirst = true
    for (let due = await this.#due(); due.length > 0; due = await this.#due()) {
      const { left, kept } = await new SetRun(this, due, isFirst).run()
      this.#left.push(...left)
      this.#kept.push(...kept)
      isFirst = false
    }
    await this.save()
    const tasks = this.#secrets.value(this.#entries.map((entry) => entry.toResult()))
    const complete = tasks.filter(({ state }) => state === 'complete').length
    const remains = { left: this.#left, kept: this.#kept }
    this.tell({ type: 'set-end', set, complete, tasks: tasks.length, ...remains })
    return { set, isComplete: complete === tasks.length, tasks, ...remains }
  }

  get pending(): SetEntry[] {
    return this.#entries.filter(({ isPending }) => isPending)
  }

  /** Takes into account how an attempt ended; what is tried again is due after its pause. */
  async ended(
    ended: EvalResult,
    errors: SampleErrors,
  ): Promise<{ entry: SetEntry; verdict: AttemptVerdict } | undefined> {
    const result = this.#secrets.value(ended)
    const task = this.#taskOf(result.header)
    const entry = this.#entries.find(({ task: { key } }) => key === task?.key)
    if (!entry) return undefined
    const verdict = entry.ended(result, errors.of(result.eval))
    if (verdict.kind === 'again') this.#tryAgain(entry, verdict.why)
    await this.save()
    if (!this.options.signal?.aborted) await this.#clean(entry)
    return { entry, verdict }
  }

  /** What a process had in memory of a task is not carried into a further attempt. @throws ConfigError */
  async makeAnew(entry: SetEntry): Promise<void> {
    // One after the other: modules are loaded anew.
    const made = this.#making.then(() => setTasks(this.#tasks, this.options, this.#secrets))
    this.#making = made.catch(() => undefined)
    const again = (await made).find(({ key }) => key === entry.task.key)
    if (!again) throw new ConfigError(`${entry.name} is no part of the set any more`)
    checkAnew(entry.task.loaded, again.loaded)
    entry.task = again
  }

  /** Attempts that did not come about, as the run ended before. */
  putBackRunning(): void {
    for (const entry of this.#entries) entry.putBack()
  }

  save(): Promise<void> {
    return this.folder.save(this.#secrets.value(this.#entries.map((entry) => entry.toManifest())))
  }

  tell(event: SetEvent): void {
    this.options.onEvent?.(event)
  }

  now(): number {
    return (this.options.now ?? Date.now)()
  }

  async pause(ms: number, signal = this.options.signal): Promise<void> {
    await (this.options.sleep ?? sleep)(ms, signal)
  }

  /** Waits until something may be run. Empty: there is nothing, or the set was stopped. */
  async #due(): Promise<SetEntry[]> {
    const { signal } = this.options
    if (this.pending.length === 0 || signal?.aborted) return []
    const firstMs = Math.min(...this.pending.map(({ dueAtMs }) => dueAtMs))
    const waitMs = firstMs - this.now()
    if (waitMs > 0) await this.pause(waitMs).catch(() => undefined)
    if (signal?.aborted) return []
    const nowMs = Math.max(firstMs, this.now())
    return this.pending.filter(({ dueAtMs }) => dueAtMs <= nowMs)
  }

  #tryAgain(entry: SetEntry, why: string): void {
    const { retryAttempts = RETRY_ATTEMPTS, retryWaitMs = RETRY_WAIT_MS } = this.options
    const { attempts, name } = entry
    if (attempts > retryAttempts) {
      entry.usedUp()
      return
    }
    const pauseMs = retryPauseMs(attempts, retryWaitMs)
    entry.dueAtMs = this.now() + pauseMs
    this.tell({ type: 'set-again', name, attempt: attempts + 1, pauseMs, why })
  }

  async #clean(entry: SetEntry): Promise<void> {
    const { log, superseded } = entry
    if (log === undefined) return
    const { removed, kept } = await removeSuperseded(superseded, log)
    for (const old of removed) this.tell({ type: 'set-removed', log: old, keptIn: log })
    for (const { log: old, why } of kept)
      this.tell({ type: 'set-note', level: 'warning', message: `${old} was not removed: ${why}` })
    entry.supersede(removed)
  }
}

/** Every task with each model. @throws ConfigError */
export async function setTasks(
  tasks: SetTasks,
  options: SetOptions,
  secrets: SecretMask,
): Promise<SetTask[]> {
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
  const all = await Promise.all(made)
  checkDistinct(all)
  return all
}
