import type { SampleSource } from '../../task/sample-source.ts'
import { linkedController } from '../../util/linked-controller.ts'
import { Wake } from '../../util/wake.ts'
import type { Gate } from '../config/config-gate.ts'
import type { Completion } from './completion.ts'
import type { DispatcherOptions } from './dispatcher-options.ts'
import { byGate, PlannedRun, type PlannedSample, type RunOutcome } from './planned-sample.ts'
import { Replay, type ReusedRun } from './replay.ts'
import { OperatorError } from './run-control.ts'
import { RunQueue } from './run-queue.ts'
import { SampleSlots } from './sample-slots.ts'
import { SourceFeed } from './source-feed.ts'
import { SourceTeller } from './source-teller.ts'

/**
 * Starts runs while there are sample slots and ready configurations, tells the source what became of them, and asks it for more.
 * A run is outstanding from `add` until what the source returned for it has been added.
 */
export class Dispatcher {
  readonly queue = new RunQueue()
  readonly slots: SampleSlots
  readonly #options: DispatcherOptions
  readonly #teller: SourceTeller
  readonly #changed = new Wake()
  readonly #completions = new Set<Completion>()
  readonly #closing
  readonly #replay = new Replay(
    (reused) => this.#settleReused(reused),
    () => {
      this.#changed.set()
      this.#startReady()
    },
  )
  #outstanding = 0
  #live = 0
  #isPaused = false
  #ended = false

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#teller = new SourceTeller(options)
    this.#closing = linkedController(options.signal)
    this.slots = new SampleSlots(options.maxSamples, () => this.#startReady())
  }

  get maxSamples(): number {
    return this.slots.limit
  }

  set maxSamples(limit: number) {
    this.slots.limit = limit
  }

  get outstanding(): number {
    return this.#outstanding
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Whether nothing new is started any more. */
  get isClosing(): boolean {
    return this.#teller.isClosing || this.#options.signal.aborted || this.#ended
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  set isPaused(value: boolean) {
    this.#isPaused = value
    this.#changed.set()
    this.#startReady()
  }

  /** Adds the seed, one epoch after the other. */
  addSeed(samples: readonly PlannedSample[]): void {
    this.#add(samples, (runs) => runs.sort((one, other) => one.epoch - other.epoch))
  }

  /** Adds samples while running, each with all its epochs. */
  add(samples: readonly PlannedSample[]): void {
    this.#add(samples, (runs) => runs)
  }

  /** Runs a sample and epoch again whose outcome is `run.superseded`. */
  addAgain(run: PlannedRun): void {
    this.#outstanding++
    this.queue.enter(run)
    this.#admit([run])
    this.#changed.set()
  }

  /** Ends the task in order: what waits is abandoned, the source is not asked again and what it returns is dropped. */
  close(why: string): void {
    if (this.isClosing) return
    this.#teller.isClosing = true
    this.#closing.abort(new OperatorError(why))
    for (const run of [...this.queue.live]) if (run.control.state === 'waiting') this.abandon(run, why)
    this.#changed.set()
  }

  /** Ends a run that has not started. */
  abandon(run: PlannedRun, why: string): void {
    this.queue.leave(run)
    void this.#end(run, { kind: 'abandoned', why })
  }

  /** A run that was held may go on. */
  letGo(run: PlannedRun): void {
    this.queue.letGo(run)
    this.#startReady()
  }

  /** Resolves when all is done, or after an abort when nothing runs any more. Returns whether the source's end was reached. */
  async run(): Promise<boolean> {
    const { source, signal } = this.#options
    let reachedEnd = false
    try {
      if (source) await this.#feed(source)
      await this.#until(() => this.#outstanding === 0, signal)
      reachedEnd = !this.#teller.isClosing
    } catch (error) {
      if (!signal.aborted) throw error
    }
    this.#ended = true
    this.queue.clear()
    this.slots.open()
    this.#closing[Symbol.dispose]()
    await this.#until(() => this.#live === 0 && !this.#replay.isWorking)
    for (const completion of this.#completions) completion.fail('task-ended')
    return reachedEnd
  }

  async #feed(source: SampleSource): Promise<void> {
    const { prefetch = 0, sleep, warn, fail, isSpent } = this.#options
    const { signal } = this.#closing
    const feed = new SourceFeed(source, { signal, sleep, warn, changed: this.#changed })
    try {
      for (;;) {
        await this.#until(() => this.#outstanding <= prefetch && !this.#isPaused, signal)
        if (isSpent?.()) return
        if (await this.#ask(feed)) return
      }
    } catch (error) {
      if (this.#options.signal.aborted) throw error
      if (signal.aborted) return
      fail(error, 'nextSamples')
      throw error
    }
  }

  /** Returns whether the source has come to its end. */
  async #ask(feed: SourceFeed): Promise<boolean> {
    const { signal } = this.#closing
    const more = await this.#teller.callback(async () => {
      const samples = await feed.ask()
      signal.throwIfAborted()
      if (samples !== null) this.#options.plan(samples, 'nextSamples')
      return samples
    })
    if (more?.length === 0) await feed.pause()
    if (more !== null) return false
    if (this.#outstanding === 0) return true
    // null is no more than "nothing while things are as they are": asked again once what still runs has ended.
    await this.#until(() => this.#outstanding === 0, signal)
    return false
  }

  #add(samples: readonly PlannedSample[], order: (runs: PlannedRun[]) => PlannedRun[]): void {
    const { epochs } = this.#options
    this.#outstanding += samples.length * epochs
    for (const { completion } of samples) {
      if (completion && this.#ended) completion.fail('task-ended')
      else if (completion) this.#completions.add(completion)
    }
    for (const [gate, group] of byGate(samples)) {
      this.#enter(gate, order(group.flatMap((planned) => this.#runsOf(planned))))
    }
    this.#changed.set()
  }

  #enter(gate: Gate, runs: readonly PlannedRun[]): void {
    for (const run of runs) this.queue.enter(run)
    if (gate.state === 'pending') void gate.settled.then(() => this.#admit(runs))
    else this.#admit(runs)
  }

  /** Those that are to be run. */
  #runsOf(planned: PlannedSample): PlannedRun[] {
    const epochs = Array.from({ length: this.#options.epochs }, (_, index) => index + 1)
    return epochs.flatMap((epoch) => {
      const prior = this.#options.prior?.(planned, epoch)
      if (!prior) return [new PlannedRun(planned, epoch)]
      if (prior.kind === 'again') return [PlannedRun.again(planned, epoch, prior.superseded)]
      const run = new PlannedRun(planned, epoch, prior.kind === 'left' ? prior.superseded : undefined)
      if (prior.kind === 'reused') this.#replay.add({ run, order: prior.order, load: prior.load })
      else void this.#end(run, { kind: 'abandoned', why: prior.why })
      return []
    })
  }

  async #settleReused(reused: ReusedRun): Promise<void> {
    try {
      const outcome = await this.#options.reuse?.(reused)
      if (outcome instanceof PlannedRun) this.#enter(outcome.planned.gate, [outcome])
      else await this.#end(reused.run, outcome)
    } catch (error) {
      this.#options.fail(error, 'log')
      await this.#end(reused.run, undefined)
    }
  }

  /** A callback of the source waits for a sample: those that are held back while an earlier log is gone through may start. */
  release(): void {
    this.#replay.release()
  }

  #admit(runs: readonly PlannedRun[]): void {
    const { signal } = this.#options
    if (signal.aborted || this.#ended) return
    for (const run of runs) {
      if (run.control.state === 'ended') continue
      if (this.#teller.isClosing) this.abandon(run, 'the task is being ended by an operator')
      // What cannot start needs no slot to fail.
      else if (run.planned.gate.state === 'failed') void this.#start(run)
      else this.queue.ready(run)
    }
    this.#startReady()
  }

  #startReady(): void {
    while (this.slots.hasRoom && !this.#isPaused && !this.isClosing && !this.#replay.isHolding) {
      const run = this.queue.next()
      if (!run) return
      void this.#start(run)
    }
  }

  async #start(run: PlannedRun): Promise<void> {
    run.control.state = 'starting'
    this.slots.take()
    this.#live++
    let outcome: RunOutcome | undefined
    try {
      outcome = await this.#options.run(run)
    } catch (error) {
      this.#options.fail(error, 'log')
    }
    this.#live--
    if (outcome?.kind === 'retry') run.control.state = 'waiting'
    else this.queue.leave(run)
    this.slots.release(run)
    this.#changed.set()
    if (outcome?.kind === 'retry') this.#tryAgain(run)
    else await this.#end(run, outcome)
  }

  #tryAgain(run: PlannedRun): void {
    const { action } = run.control
    if (this.#options.signal.aborted) return
    if (action) this.abandon(run, `an operator ended it between two attempts (${action})`)
    else this.#admit([run])
  }

  #end(run: PlannedRun, outcome: RunOutcome | undefined): Promise<void> {
    run.told = this.#settle(run, outcome, run.told)
    return run.told
  }

  async #settle(
    run: PlannedRun,
    outcome: RunOutcome | undefined,
    earlier: Promise<void> | undefined,
  ): Promise<void> {
    const { completion } = run.planned
    if (outcome?.kind === 'record') {
      completion?.add(outcome.record)
      if (completion?.isDone) this.#completions.delete(completion)
      await earlier
      await this.#options.recorded?.(outcome.record)
      if (!outcome.isTold) await this.#teller.complete(outcome.record)
    } else if (outcome?.kind === 'abandoned' && !this.#options.signal.aborted) {
      const isTold = this.#options.abandoned(run, outcome.why)
      completion?.abandon(run.epoch, outcome.why)
      if (completion?.isDone) this.#completions.delete(completion)
      if (isTold) await this.#teller.abandoned(run, outcome.why)
    }
    this.#outstanding--
    this.#changed.set()
  }

  async #until(condition: () => boolean, signal?: AbortSignal): Promise<void> {
    while (!condition()) await this.#changed.wait(signal)
  }
}
