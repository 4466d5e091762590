import { ConfigError } from '../../errors.ts'
import type { Sample } from '../../sample/sample.ts'
import type { SampleSource } from '../../task/sample-source.ts'
import { type Sleep, untilAborted } from '../../util/abort.ts'
import type { Wake } from '../../util/wake.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

export interface SourceFeedOptions {
  readonly signal: AbortSignal
  readonly sleep: Sleep
  readonly warn: (message: string) => void
  /** Set whenever a run ended or was added: a reason to ask again before the pause is over. */
  readonly changed: Wake
}

/** Asks a source for more, with growing pauses while it answers that there is nothing yet. */
export class SourceFeed {
  readonly #source: SampleSource
  readonly #options: SourceFeedOptions
  #pauseMs = 0

  constructor(source: SampleSource, options: SourceFeedOptions) {
    this.#source = source
    this.#options = options
  }

  async ask(): Promise<readonly Sample[] | null> {
    const { signal } = this.#options
    signal.throwIfAborted()
    const more = await untilAborted(this.#source.nextSamples({ signal }), signal)
    if (more !== null && !Array.isArray(more))
      throw new ConfigError(
        `nextSamples must return an array of samples, or null to end the task; got ${typeof more}`,
      )
    if (more?.length !== 0) this.#pauseMs = 0
    return more
  }

  /** After an answer that there is nothing yet. */
  async pause(): Promise<void> {
    const { signal, sleep, warn, changed } = this.#options
    if (this.#pauseMs === 0)
      warn(
        'nextSamples returned no samples; asking again, with pauses of up to 5 s (return null to end the task)',
      )
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2))
    const over = new AbortController()
    const either = AbortSignal.any([signal, over.signal])
    try {
      await Promise.race([sleep(this.#pauseMs, either), changed.wait(either)])
    } finally {
      over.abort()
    }
  }
}
