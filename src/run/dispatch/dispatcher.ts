import type { SampleRecord } from '../../log/records.ts'
import type { FollowUps, SampleSource } from '../../task/sample-source.ts'
import { type Sleep, untilAborted } from '../../util/abort.ts'
import { Fifo } from '../../util/fifo.ts'
import { Wake } from '../../util/wake.ts'
import type { Gate } from '../config/config-gate.ts'
import type { Completion, PlannedRun, PlannedSample } from './planned-sample.ts'
import { SourceFeed } from './source-feed.ts'

export interface DispatcherOptions {
  readonly epochs: number
  readonly maxSamples: number
  readonly source?: SampleSource
  /** The source is asked when at most so many runs are outstanding (default 0). */
  readonly prefetch?: number
  readonly sleep: Sleep
  /** Aborted when the whole eval ends at once: what waits is dropped, and the source is told nothing more. */
  readonly signal: AbortSignal
  /** Runs one epoch; resolves when its record is in the log. Rejects only when the log cannot be written. */
  readonly run: (run: PlannedRun) => Promise<SampleRecord>
  /** Plans samples that the source returned, and adds them. */
  readonly plan: (samples: FollowUps, origin: string) => void
  /** Ends the whole eval with this error. */
  readonly fail: (error: unknown, origin: string) => void
  readonly warn: (message: string) => void
}

/**
 * Starts runs while there are sample slots and ready configurations, tells the source what became of them, and asks it for more.
 * A run is outstanding from `add` until what the source returned for it has been added.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #ready = new Fifo<PlannedRun>()
  readonly #changed = new Wake()
  readonly #completions = new Set<Completion>()
  #maxSamples: number
  #outstanding = 0
  #running = 0
  #ended = false

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#maxSamples = options.maxSamples
  }

  get maxSamples(): number {
    return this.#maxSamples
  }

  set maxSamples(limit: number) {
    this.#maxSamples = limit
    this.#startReady()
  }

  get outstanding(): number {
    return this.#outstanding
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Adds the seed, one epoch after the other. */
  addSeed(samples: readonly PlannedSample[]): void {
    this.#add(samples, (group) =>
      epochs(this.#options.epochs).flatMap((epoch) => group.map((planned) => ({ planned, epoch }))),
    )
  }

  /** Adds samples while running, each with all its epochs. */
  add(samples: readonly PlannedSample[]): void {
    this.#add(samples, (group) =>
      group.flatMap((planned) => epochs(this.#options.epochs).map((epoch) => ({ planned, epoch }))),
    )
  }

  /** Resolves when all is done, or after an abort when nothing runs any more. Returns whether the source's end was reached. */
  async run(): Promise<boolean> {
    const { source, signal } = this.#options
    let reachedEnd = false
    try {
      if (source) await this.#feed(source)
      await this.#until(() => this.#outstanding === 0, signal)
      reachedEnd = true
    } catch (error) {
      if (!signal.aborted) throw error
    }
    this.#ended = true
    this.#ready.clear()
    await this.#until(() => this.#running === 0)
    for (const completion of this.#completions) completion.end()
    return reachedEnd
  }

  async #feed(source: SampleSource): Promise<void> {
    const { signal, prefetch = 0, plan, sleep, warn, fail } = this.#options
    const feed = new SourceFeed(source, { signal, sleep, warn, changed: this.#changed })
    for (;;) {
      await this.#until(() => this.#outstanding <= prefetch, signal)
      try {
        const more = await feed.ask()
        signal.throwIfAborted()
        if (more === null && this.#outstanding === 0) return
        plan(more, 'nextSamples')
        // null is no more than "nothing while things are as they are": asked again once what still runs has ended.
        if (more === null) await this.#until(() => this.#outstanding === 0, signal)
      } catch (error) {
        if (!signal.aborted) fail(error, 'nextSamples')
        throw error
      }
    }
  }

  #add(samples: readonly PlannedSample[], order: (group: PlannedSample[]) => PlannedRun[]): void {
    this.#outstanding += samples.length * this.#options.epochs
    for (const { completion } of samples) {
      if (completion && this.#ended) completion.end()
      else if (completion) this.#completions.add(completion)
    }
    for (const [gate, group] of byGate(samples)) {
      if (gate.state === 'pending') void gate.settled.then(() => this.#admit(order(group)))
      else this.#admit(order(group))
    }
    this.#changed.set()
  }

  #admit(runs: PlannedRun[]): void {
    const { signal } = this.#options
    if (signal.aborted || this.#ended) return
    for (const run of runs) {
      // What cannot start needs no slot to fail.
      if (run.planned.gate.state === 'failed') void this.#start(run)
      else this.#ready.push(run)
    }
    this.#startReady()
  }

  #startReady(): void {
    while (this.#running < this.#maxSamples && this.#ready.size > 0 && !this.#options.signal.aborted) {
      const run = this.#ready.shift()
      if (run) void this.#start(run)
    }
  }

  async #start(run: PlannedRun): Promise<void> {
    this.#running++
    let record: SampleRecord | undefined
    try {
      record = await this.#options.run(run)
    } catch (error) {
      this.#options.fail(error, 'log')
    }
    this.#running--
    this.#changed.set()
    this.#startReady()
    if (record) await this.#tell(run, record)
    this.#outstanding--
    this.#changed.set()
  }

  async #tell({ planned }: PlannedRun, record: SampleRecord): Promise<void> {
    const { source, plan, signal, fail } = this.#options
    planned.completion?.add(record)
    if (planned.completion?.isDone) this.#completions.delete(planned.completion)
    if (!source || signal.aborted) return
    const origin = `sampleComplete of sample '${record.id}'`
    try {
      const followUps = await untilAborted(source.sampleComplete(record), signal)
      if (!signal.aborted) plan(followUps, origin)
    } catch (error) {
      if (!signal.aborted) fail(error, origin)
    }
  }

  async #until(condition: () => boolean, signal?: AbortSignal): Promise<void> {
    while (!condition()) await this.#changed.wait(signal)
  }
}

function epochs(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

function byGate(samples: readonly PlannedSample[]): Map<Gate, PlannedSample[]> {
  const groups = new Map<Gate, PlannedSample[]>()
  for (const planned of samples) {
    const group = groups.get(planned.gate)
    if (group) group.push(planned)
    else groups.set(planned.gate, [planned])
  }
  return groups
}
