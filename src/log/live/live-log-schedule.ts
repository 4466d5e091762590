import { LiveLog } from './live-log.ts'

/** An advance is followed by so many times its duration of rest at least. */
const REST = 20

export interface LiveLogOptions {
  /** Shortest time between two snapshots, in milliseconds. */
  readonly everyMs: number
  /** Told once, when there will be no more of them. */
  readonly warn: (error: unknown) => void
}

/** Brings the live log of a journal up to date from time to time, while there is something new. */
export class LiveLogSchedule {
  readonly #journal: string
  readonly #options: LiveLogOptions
  #log: LiveLog | undefined
  #timer: NodeJS.Timeout | undefined
  #advance: Promise<void> = Promise.resolve()
  #restMs: number
  #hasNews = false
  #isOver = false

  constructor(journal: string, options: LiveLogOptions) {
    this.#journal = journal
    this.#options = options
    this.#restMs = options.everyMs
  }

  /** A sample has ended. */
  news(): void {
    this.#hasNews = true
    if (this.#isOver || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#hasNews = false
      this.#advance = this.#run()
    }, this.#restMs)
    this.#timer.unref()
  }

  /** No snapshot is made any more. Returns the log as far as it has come; undefined where none was begun. */
  async stop(): Promise<LiveLog | undefined> {
    this.#isOver = true
    clearTimeout(this.#timer)
    await this.#advance
    return this.#log
  }

  async #run(): Promise<void> {
    const startMs = performance.now()
    try {
      this.#log ??= await LiveLog.open(this.#journal)
      await this.#log.advance()
    } catch (error) {
      this.#isOver = true
      await this.#log?.discard()
      this.#log = undefined
      this.#options.warn(error)
    }
    this.#restMs = Math.max(this.#options.everyMs, REST * (performance.now() - startMs))
    this.#timer = undefined
    if (this.#hasNews) this.news()
  }
}
