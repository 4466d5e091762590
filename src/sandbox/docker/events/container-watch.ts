import { type Deferred, deferred } from '../engine/deferred.ts'
import type { ContainerEvent, EventFacts } from './engine-events.ts'

/** What has been seen of one container's life, from the Engine's events and from a `wait`: all that is left once it has removed itself. */
export class ContainerWatch {
  readonly id: string
  readonly #dying = new Set<Deferred<void>>()
  readonly #pauseListeners = new Set<(paused: boolean) => void>()
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

  /** Calls back when it is paused and when it goes on. */
  onPause(listener: (paused: boolean) => void): () => void {
    this.#pauseListeners.add(listener)
    return () => this.#pauseListeners.delete(listener)
  }

  take(event: ContainerEvent, { exitCode, state }: EventFacts = {}): void {
    if (event === 'oom') this.#oom = true
    else if (event === 'pause' || event === 'unpause') this.#setPaused(event === 'pause')
    else if (event === 'die') this.#die(exitCode)
    else if (event === 'destroy' || state === 'absent') this.#remove()
    else if (state === 'exited' || state === 'dead') this.takeWait(undefined, false)
    else if (state !== undefined) this.#setPaused(state === 'paused')
  }

  /** The answer of a `wait` on it: for its removal, or only for its end. */
  takeWait(exitCode: number | undefined, removed: boolean): void {
    if (this.#deaths === 0) this.#die(exitCode)
    this.#exitCode ??= exitCode
    if (removed) this.#remove()
  }

  #setPaused(paused: boolean): void {
    if (paused === this.#paused) return
    this.#paused = paused
    for (const listener of [...this.#pauseListeners]) listener(paused)
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
