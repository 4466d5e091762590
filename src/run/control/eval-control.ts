import type { SampleLimits } from '../../limit/budget.ts'
import type { ConnectionLimiter } from '../../limit/connection-limiter.ts'
import type { Totals } from '../../log/records/records.ts'
import type { SampleId } from '../../sample/sample-id.ts'
import type { LeftObject } from '../../sandbox/provider.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { PlannedRun, type PlannedSample, runKey } from '../dispatch/planned-sample.ts'
import {
  type CancelAction,
  CHANGED,
  type ControlReply,
  type RunState,
  unchanged,
} from '../dispatch/run-control.ts'
import type { Outcomes } from '../outcomes.ts'

/** `drain`: what runs ends by itself; `score`: it is scored as it stands; `error`: it ends as errors; `cancel`: all ends at once. */
export type TaskCancelAction = 'drain' | CancelAction

/** One epoch of a sample that has not ended. */
export interface LiveSample {
  readonly id: SampleId
  readonly epoch: number
  readonly attempt: number
  readonly state: RunState
  /** `prepare` until its configuration is ready, `queue` before its turn, `wait` for a sandbox slot, then `start`, `files`, `setup`, `agent`, `tests`, `score`. */
  readonly phase: string
  /** When that began, in milliseconds since the epoch. */
  readonly sinceMs: number
  /** What it waits for, where it does nothing itself. */
  readonly waitsFor?: string
  readonly isPaused: boolean
}

function waitsFor(phase: string, { gate }: PlannedSample): { waitsFor?: string } {
  if (phase === 'queue') return { waitsFor: 'a sample slot' }
  if (phase === 'wait') return { waitsFor: 'a sandbox slot' }
  return phase === 'prepare' ? { waitsFor: gate.description ?? 'what its sandbox is made from' } : {}
}

export interface EvalControlOptions {
  readonly task: string
  readonly eval: string
  readonly dispatcher: Dispatcher
  readonly outcomes: Outcomes
  readonly limits: { -readonly [name in keyof SampleLimits]: SampleLimits[name] }
  /** Ends the eval at once. */
  readonly cancel: () => void
}

const RANK: Readonly<Record<TaskCancelAction, number>> = { drain: 1, score: 2, error: 2, cancel: 3 }

/** Acts on one eval while it runs. Whatever is asked for twice, or too late, changes nothing and says why. */
export class EvalControl {
  readonly task: string
  readonly eval: string
  readonly #options: EvalControlOptions
  #stopped: TaskCancelAction | undefined

  constructor(options: EvalControlOptions) {
    this.task = options.task
    this.eval = options.eval
    this.#options = options
  }

  get stopped(): TaskCancelAction | undefined {
    return this.#stopped
  }

  get totals(): Readonly<Totals> {
    return { ...this.#options.outcomes.totals }
  }

  /** Read at each check of every sample; times are looked at once a second. */
  get limits(): { -readonly [name in keyof SampleLimits]: SampleLimits[name] } {
    return this.#options.limits
  }

  get maxSamples(): number {
    return this.#options.dispatcher.maxSamples
  }

  set maxSamples(limit: number) {
    this.#options.dispatcher.maxSamples = limit
  }

  get isPaused(): boolean {
    return this.#options.dispatcher.isPaused
  }

  samples(): LiveSample[] {
    return [...this.#options.dispatcher.queue.live].map(({ planned, epoch, attempt, control }) => ({
      id: planned.id,
      epoch,
      attempt,
      state: control.state,
      ...control.doing,
      ...waitsFor(control.doing.phase, planned),
      isPaused: control.isHeld,
    }))
  }

  /** Ends the task. What waits is abandoned and the source is not asked again. Only a stronger action follows a weaker. */
  cancel(action: TaskCancelAction): ControlReply {
    const { dispatcher, outcomes, cancel } = this.#options
    if (this.#stopped && RANK[action] <= RANK[this.#stopped])
      return unchanged(`'${this.#stopped}' was asked for already`)
    if (dispatcher.isClosing && !this.#stopped) return unchanged('it is ending already')
    if (dispatcher.ended) return unchanged('it has ended')
    this.#stopped = action
    if (action === 'cancel') cancel()
    else dispatcher.close(`an operator ended the task (${action})`)
    this.resume()
    if (action === 'cancel') return CHANGED
    if (action === 'drain') return CHANGED
    const isFatal = action === 'error' && outcomes.wouldEndEval
    for (const run of [...dispatcher.queue.live]) run.control.request(isFatal ? 'score' : action)
    return isFatal
      ? { changed: true, reason: 'an error would end the eval: they are scored instead' }
      : CHANGED
  }

  /** Ends one running sample; one that waits can only be cancelled, and is abandoned. */
  cancelSample(id: SampleId, epoch: number, action: CancelAction): ControlReply {
    const { dispatcher, outcomes } = this.#options
    const run = dispatcher.queue.find(runKey(id, epoch))
    if (!run) return unchanged('there is no such sample under way')
    if (run.control.state === 'waiting') {
      if (action !== 'cancel') return unchanged('it has not started: it can only be cancelled')
      dispatcher.abandon(run, 'an operator cancelled it before it started')
      return CHANGED
    }
    if (action === 'error' && outcomes.wouldEndEval) return unchanged('an error would end the whole eval')
    const reply = run.control.request(action)
    dispatcher.letGo(run)
    return reply
  }

  /** No sample is started and the source is not asked. `now`: those that run are held before their next model call. */
  pause(options: { readonly now?: boolean } = {}): ControlReply {
    const { dispatcher } = this.#options
    if (dispatcher.isClosing) return unchanged('it is ending')
    const wasPaused = dispatcher.isPaused
    dispatcher.isPaused = true
    const running = [...dispatcher.queue.live].filter(({ control }) => control.state !== 'waiting')
    const held = options.now ? running.filter(({ control }) => control.pause().changed) : []
    return wasPaused && held.length === 0 ? unchanged('it is paused already') : CHANGED
  }

  resume(): ControlReply {
    const { dispatcher } = this.#options
    const wasPaused = dispatcher.isPaused
    const resumed = [...dispatcher.queue.live].filter(({ control }) => control.resume().changed)
    for (const run of resumed) dispatcher.letGo(run)
    dispatcher.isPaused = false
    return wasPaused || resumed.length > 0 ? CHANGED : unchanged('it is not paused')
  }

  /** One that waits is not started; one that runs is held before its next model call. */
  pauseSample(id: SampleId, epoch: number): ControlReply {
    const run = this.#options.dispatcher.queue.find(runKey(id, epoch))
    return run ? run.control.pause() : unchanged('there is no such sample under way')
  }

  resumeSample(id: SampleId, epoch: number): ControlReply {
    const { dispatcher } = this.#options
    const run = dispatcher.queue.find(runKey(id, epoch))
    if (!run) return unchanged('there is no such sample under way')
    const reply = run.control.resume()
    dispatcher.letGo(run)
    return reply
  }

  /** Runs a sample and epoch again that ended with an error or was cancelled; its new outcome takes the place of the old. */
  requeue(id: SampleId, epoch: number): ControlReply {
    const { dispatcher, outcomes } = this.#options
    if (dispatcher.isClosing) return unchanged('the task has ended or is ending')
    const key = runKey(id, epoch)
    if (dispatcher.queue.find(key)) return unchanged('it is under way')
    const ended = outcomes.takeBack(key)
    if (!ended) return unchanged('there is no such sample that ended with an error or was cancelled')
    const again = new PlannedRun(ended.run.planned, epoch, ended.record)
    again.told = ended.run.told
    dispatcher.addAgain(again)
    return CHANGED
  }
}

/** Acts on a run while it goes on. */
export interface RunControls {
  readonly run: string
  /** How many calls of each model may be under way at once, by the key that models share connections under: may be set, or let adapt. */
  readonly connections: ReadonlyMap<string, ConnectionLimiter>
  /** One per eval, in the order in which they were made; those of added tasks come to it. */
  readonly evals: readonly EvalControl[]
  /** What the run would leave if this process ended now. */
  left(): readonly LeftObject[]
}
