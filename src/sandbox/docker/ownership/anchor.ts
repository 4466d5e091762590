import { setTimeout as pause } from 'node:timers/promises'
import { errorMessage } from '../../../errors.ts'
import { deferred } from '../engine/deferred.ts'
import type { Engine } from '../engine/engine.ts'
import { isConnectionError } from '../engine/engine-error.ts'
import { ANCHOR_LABEL, OWNER_LABEL, RUN_LABEL } from '../identity/labels.ts'
import { owner } from '../identity/owner.ts'
import { programImage } from '../image/program-image.ts'
import { removeObject } from '../remove.ts'
import { type AnchorContainer, type AnchorImage, startAnchor } from './anchor-container.ts'

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5000
const ATTEMPTS = 3
const REMOVAL_MS = 5000

export interface AnchorOptions {
  readonly engine: Engine
  readonly run: string
  readonly warn: (message: string) => void
}

/**
 * The sign on the engine that a run lives: a container that ends with the run's process, and is made anew when the
 * engine has lost it.
 */
export class Anchor {
  readonly #options: AnchorOptions
  readonly #ending = new AbortController()
  readonly #settled = deferred<boolean>()
  readonly #offered = deferred<AnchorImage>()
  readonly #holding: Promise<void>
  #number = 0
  #failures = 0
  #guestFailed = false
  #guestWorks = false

  constructor(options: AnchorOptions) {
    this.#options = options
    this.#ending.signal.addEventListener('abort', () => this.#settled.resolve(false))
    this.#holding = this.#hold()
  }

  /** Whether the run has had its anchor; resolves as soon as that is known. */
  get ready(): Promise<boolean> {
    return this.#settled.promise
  }

  /** An image with a shell, for where the guest cannot run. */
  offerImage(id: string): void {
    this.#offered.resolve({ kind: 'shell', id })
  }

  /** It is not made anew from now on, and goes. Never throws. */
  async release(): Promise<void> {
    this.#ending.abort(new Error('released'))
    await this.#holding
  }

  async #hold(): Promise<void> {
    const { signal } = this.#ending
    const released = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    while (!signal.aborted) {
      const anchor = await this.#make(released)
      if (!anchor) continue
      this.#settled.resolve(true)
      this.#guestWorks ||= !this.#guestFailed
      await Promise.race([anchor.lost, released])
      // Removed before its stream is closed: it would else remove itself at the same time.
      await this.#remove(anchor.id)
      anchor.close()
    }
  }

  async #make(released: Promise<unknown>): Promise<AnchorContainer | undefined> {
    const { engine, run } = this.#options
    this.#number += 1
    const name = `bj-anchor-${run}-${this.#number}`
    const labels = { [RUN_LABEL]: run, [OWNER_LABEL]: owner(), [ANCHOR_LABEL]: 'true' }
    try {
      const image = await this.#image(released)
      if (!image || this.#ending.signal.aborted) return undefined
      const anchor = await startAnchor(engine, { name, labels, image })
      this.#failures = 0
      return anchor
    } catch (error) {
      await this.#remove(name)
      await this.#afterFailure(error)
      return undefined
    }
  }

  async #image(released: Promise<unknown>): Promise<AnchorImage | undefined> {
    const guest = this.#guestFailed ? undefined : await programImage(this.#options.engine, 'guest')
    if (guest) return { kind: 'guest', id: guest }
    return Promise.race([this.#offered.promise, released.then(() => undefined)])
  }

  /** Where the guest does not start, a shell may; while the engine does not answer, neither is to blame. */
  async #afterFailure(error: unknown): Promise<void> {
    this.#failures += 1
    if (this.#failures >= ATTEMPTS && !this.#guestWorks && !isConnectionError(error)) {
      if (this.#guestFailed) this.#settled.resolve(false)
      else this.#options.warn(`the run's anchor container does not start: ${errorMessage(error)}`)
      this.#guestFailed = true
      this.#failures = 0
    }
    const ms = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS)
    await pause(ms, undefined, { signal: this.#ending.signal, ref: false }).catch(() => undefined)
  }

  async #remove(id: string): Promise<void> {
    const object = { kind: 'container', id, name: id } as const
    await removeObject(this.#options.engine, object, { budgetMs: REMOVAL_MS })
  }
}
