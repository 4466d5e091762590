import { ConfigError } from '../errors.ts'
import type { SampleRecord } from '../log/records/records.ts'
import type { Sample } from '../sample/sample.ts'

export interface NextSamplesContext {
  /** Aborted when the task is cancelled: a blocked `nextSamples` should then settle; what it returns is dropped. */
  readonly signal: AbortSignal
}

export interface AbandonedReason {
  /** The id that the sample had been given. */
  readonly id: string | number
  readonly why: string
}

/** What callbacks return: follow-ups, or nothing. */
export type FollowUps = readonly Sample[] | null | undefined | void

/** Produces the samples of a task while it runs, and is told how each epoch of each ended. Extend it and override what you need. */
export class SampleSource {
  /** Called once, before the run; may be empty. */
  initialSamples(): readonly Sample[] {
    return []
  }

  /** Asked when nothing is in flight or waiting. May block. `[]`: nothing yet, ask again after a pause. null: no more. */
  async nextSamples(_context: NextSamplesContext): Promise<readonly Sample[] | null> {
    return null
  }

  /** Told of every epoch that was logged, after it was. Returned samples are added. */
  async sampleComplete(_sample: SampleRecord): Promise<FollowUps> {
    return null
  }

  /** Told of every epoch that ended without a record, with the object as it was added. */
  async sampleAbandoned(_sample: Sample, _epoch: number, _reason: AbandonedReason): Promise<FollowUps> {
    return null
  }

  /** Called when no callback is running. What it returns is kept in the log, as JSON, for a resume in another process. */
  saveState?(): unknown

  /** Called before the run is resumed, with what was saved last. */
  restoreState?(state: unknown): void

  /** A source from a seed and callbacks. */
  static fromSamples(initial: readonly Sample[], callbacks: SampleSourceCallbacks = {}): SampleSource {
    return new CallbackSource(initial, callbacks)
  }
}

export type SampleSourceCallbacks = Partial<
  Pick<SampleSource, 'nextSamples' | 'sampleComplete' | 'sampleAbandoned' | 'saveState' | 'restoreState'>
>

class CallbackSource extends SampleSource {
  readonly #initial: readonly Sample[]
  readonly #callbacks: SampleSourceCallbacks

  constructor(initial: readonly Sample[], callbacks: SampleSourceCallbacks) {
    super()
    this.#initial = [...initial]
    this.#callbacks = callbacks
    if (callbacks.saveState) this.saveState = callbacks.saveState
    if (callbacks.restoreState) this.restoreState = callbacks.restoreState
  }

  override initialSamples(): readonly Sample[] {
    return this.#initial
  }

  override async nextSamples(context: NextSamplesContext): Promise<readonly Sample[] | null> {
    return this.#callbacks.nextSamples ? this.#callbacks.nextSamples(context) : null
  }

  override async sampleComplete(sample: SampleRecord): Promise<FollowUps> {
    return this.#callbacks.sampleComplete?.(sample)
  }

  override async sampleAbandoned(sample: Sample, epoch: number, reason: AbandonedReason): Promise<FollowUps> {
    return this.#callbacks.sampleAbandoned?.(sample, epoch, reason)
  }
}

const drivenBy = new WeakMap<SampleSource, string>()

/** A source drives one eval at a time: two would take each other's samples. `driven` names the eval in errors. @throws ConfigError */
export function claimSource(source: SampleSource, driven: string): Disposable {
  const owner = drivenBy.get(source)
  if (owner !== undefined)
    throw new ConfigError(
      `its SampleSource drives ${owner} already, and two evals would take each other's samples; give the task a function that makes a source: dataset: () => new MySource()`,
      { where: driven },
    )
  drivenBy.set(source, driven)
  return { [Symbol.dispose]: () => void drivenBy.delete(source) }
}
