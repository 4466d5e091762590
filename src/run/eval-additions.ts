import { ConfigError } from '../errors.ts'
import type { Sample } from '../sample/sample.ts'
import { type EnqueuedSample, waitFor } from '../task/enqueue.ts'
import type { FollowUps, SampleSource } from '../task/sample-source.ts'
import type { GateUses } from './config/gate-uses.ts'
import type { Dispatcher } from './dispatch/dispatcher.ts'
import type { PlannedSample } from './dispatch/planned-sample.ts'
import type { Addition, AdditionOptions, SamplePlanner } from './dispatch/sample-planner.ts'
import type { SandboxWaits } from './dispatch/sandbox-waits.ts'
import type { EvalJournal } from './eval-journal.ts'
import type { Outcomes } from './outcomes.ts'
import type { Stopping } from './stopping.ts'

export interface EvalAdditionsOptions {
  readonly epochs: number
  readonly source: SampleSource | undefined
  readonly planner: SamplePlanner
  readonly dispatcher: Dispatcher
  readonly outcomes: Outcomes
  readonly stopping: Stopping
  readonly uses: GateUses
  readonly waits: SandboxWaits
  readonly log: EvalJournal
}

export interface AddOptions extends AdditionOptions {
  /** uuid of the attempt whose code adds them. */
  readonly by?: string
  /** The log says so already. */
  readonly isLogged?: boolean
}

/** Brings samples into one eval: its seed, what its source makes and what code adds. */
export class EvalAdditions {
  readonly #options: EvalAdditionsOptions

  constructor(options: EvalAdditionsOptions) {
    this.#options = options
  }

  seed(): readonly PlannedSample[] {
    const seed = this.#options.planner.seed()
    this.#planned(seed)
    this.#options.dispatcher.addSeed(seed)
    return seed
  }

  /** What a callback returned. @throws ConfigError */
  followUps(samples: FollowUps, origin: string): void {
    if (!samples) return
    if (!Array.isArray(samples))
      throw new ConfigError('expected an array of samples or nothing', { where: origin })
    if (samples.length > 0) this.add(samples, { origin, hasHandles: false })
  }

  enqueue(samples: readonly Sample[], by: string | undefined): EnqueuedSample[] {
    const { dispatcher } = this.#options
    const { handles } = this.add(samples, { origin: 'enqueueSample', hasHandles: true, by })
    return handles.map(({ id, completion }) => ({
      id,
      completed: () => {
        if (by === undefined) dispatcher.release()
        return waitFor(id, () => completion.completed())
      },
    }))
  }

  add(samples: readonly Sample[], options: AddOptions): Addition {
    const { planner, log, stopping, dispatcher } = this.#options
    const addition = planner.added(samples, options)
    const { planned, overLimit } = addition
    if (overLimit > 0)
      log.note(
        'warning',
        `${overLimit} of ${samples.length} samples from ${options.origin} are over the limit and not run`,
      )
    if (planned.length === 0) return addition
    this.#keep(planned, options)
    this.#planned(planned)
    stopping.added(planned)
    dispatcher.add(planned)
    return addition
  }

  /** What nobody would add again if the eval were resumed. */
  #keep(planned: readonly PlannedSample[], { by, isLogged }: AddOptions): void {
    const { log, source } = this.#options
    if (isLogged || (by === undefined && !source?.saveState)) return
    const samples = planned.map(({ id, sample }) => ({ id, sample }))
    log.keep({ type: 'samples-added', at: new Date().toISOString(), by, samples })
  }

  #planned(samples: readonly PlannedSample[]): void {
    const { outcomes, uses, waits, log, epochs } = this.#options
    outcomes.planned(samples.length)
    for (const { gate } of samples) uses.planned(gate, epochs)
    const gates = new Set(samples.map(({ gate }) => gate))
    for (const gate of gates) if (gate.state === 'pending') void waits.gate(gate.settled)
    log.planned(outcomes.totals.total)
  }
}
