import type { Readable } from 'node:stream'
import { sleep } from '../../../util/abort.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { RUN_LABEL } from '../identity/labels.ts'
import { jsonLines } from '../image/json-lines.ts'

/** What may have happened to a container. Events are lossy: whoever is told looks, and `look` is told in place of what may have been lost. */
export type ContainerEvent = 'start' | 'die' | 'oom' | 'restart' | 'health_status' | 'pause' | 'look'

type Listener = (event: ContainerEvent) => void

const WATCHED = ['start', 'die', 'oom', 'restart', 'health_status', 'pause']
const RECONCILE_MS = 30_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

interface EngineEvent {
  readonly Action?: string
  readonly Actor?: { readonly ID?: string }
}

/** The engine's events about the containers of one run, over one connection that is made again when it breaks. */
export class EngineEvents {
  readonly #engine: Engine
  readonly #run: string
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #closing = new AbortController()
  #opening: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(engine: Engine, run: string) {
    this.#engine = engine
    this.#run = run
  }

  /** Resolves when events arrive: to be awaited before what they are to tell about is started. @throws EngineError */
  open(): Promise<void> {
    this.#opening ??= this.#connect().then(
      (stream) => {
        this.#timer = setInterval(() => this.#tellAll(), RECONCILE_MS).unref()
        void this.#follow(stream)
      },
      (error: unknown) => {
        this.#opening = undefined
        throw error
      },
    )
    return this.#opening
  }

  on(containerId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(containerId) ?? new Set()
    this.#listeners.set(containerId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(containerId)
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#closing.abort()
  }

  async #connect(): Promise<Readable> {
    const filters = { type: ['container' as const], event: WATCHED, label: [`${RUN_LABEL}=${this.#run}`] }
    const stream = (await call('listening to events', {}, () =>
      this.#engine.streams.getEvents({ filters }),
    )) as Readable
    const end = () => stream.destroy()
    if (this.#closing.signal.aborted) end()
    this.#closing.signal.addEventListener('abort', end, { once: true })
    stream.once('close', () => this.#closing.signal.removeEventListener('abort', end))
    return stream
  }

  async #follow(first: Readable): Promise<void> {
    let stream: Readable | undefined = first
    for (let pauseMs = FIRST_PAUSE_MS; !this.#closing.signal.aborted; ) {
      if (stream) {
        await this.#read(stream)
        pauseMs = FIRST_PAUSE_MS
      }
      await sleep(pauseMs, this.#closing.signal).catch(() => undefined)
      if (this.#closing.signal.aborted) return
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      stream = await this.#connect().catch(() => undefined)
      if (stream) this.#tellAll()
    }
  }

  async #read(stream: Readable): Promise<void> {
    try {
      for await (const { Action, Actor } of jsonLines<EngineEvent>(stream)) {
        const action = Action?.split(':')[0] as ContainerEvent | undefined
        if (action) this.#tell(Actor?.ID ?? '', action)
      }
    } catch {
      // The connection broke: it is made again.
    } finally {
      stream.destroy()
    }
  }

  #tell(containerId: string, event: ContainerEvent): void {
    for (const listener of [...(this.#listeners.get(containerId) ?? [])]) listener(event)
  }

  #tellAll(): void {
    for (const id of [...this.#listeners.keys()]) this.#tell(id, 'look')
  }
}
