import { type Deferred, deferred } from '../engine/deferred.ts'

/** What has been seen of one container's life, from the Engine's events and from a `wait`: all that is left once it has removed itself. */
export class ContainerWatch {
  readonly id: string
  readonly #dying = new Set<Deferred<void>>()
  readonly #removed: Deferred<void> = deferred()
  #oom = false
  #paused = false
  #deaths = 0
  #isRemoved = false
  #exitCode: number | undefined

  constructor(id: string) {
    this.id = id
  }

  /** Memory ran out in it: the death of some process, not yet its own. */
  get oom(): boolean {
    return this.#oom
  }

  get paused(): boolean {
    return this.#paused
  }

  /** How often its main process has ended; more than once where it is restarted. */
  get deaths(): number {
    return this.#deaths
  }

  /** Of its last death, where that is known. */
  get exitCode(): number | undefined {
    return this.#exitCode
  }

  get isRemoved(): boolean {
    return this.#isRemoved
  }

  /** Resolves when it has died more often than that, or is gone. */
  async diedAfter(deaths: number): Promise<void> {
    while (this.#deaths <= deaths && !this.#isRemoved) {
      const death = deferred<void>()
      this.#dying.add(death)
      await death.promise
    }
  }

  get removed(): Promise<void> {
    return this.#removed.promise
  }

  /** An event of the Engine. */
  take(action: string, exitCode?: number): void {
    if (action === 'oom') this.#oom = true
    else if (action === 'pause') this.#paused = true
    else if (action === 'unpause') this.#paused = false
    else if (action === 'die') this.#die(exitCode)
    else if (action === 'destroy') this.#remove()
  }

  /** The answer of a `wait` on it: for its removal, or only for its end. */
  takeWait(exitCode: number | undefined, removed: boolean): void {
    if (this.#deaths === 0) this.#die(exitCode)
    this.#exitCode ??= exitCode
    if (removed) this.#remove()
  }

  #die(exitCode: number | undefined): void {
    this.#deaths += 1
    this.#exitCode = exitCode
    this.#tellDeath()
  }

  #remove(): void {
    this.#isRemoved = true
    this.#tellDeath()
    this.#removed.resolve()
  }

  #tellDeath(): void {
    for (const death of this.#dying) death.resolve()
    this.#dying.clear()
  }
}
