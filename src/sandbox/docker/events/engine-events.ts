import type { Readable } from 'node:stream'
import { sleep } from '../../../util/abort.ts'
import { call } from '../engine/call.ts'
import type { EngineClients } from '../engine/clients.ts'
import { OWNER_LABEL } from '../identity/labels.ts'
import { owner } from '../identity/owner.ts'
import { jsonLines } from '../image/json-lines.ts'
import { ContainerWatch } from './container-watch.ts'

/** What may have happened to a container. Events are lossy: `look` is told now and then, and in place of what may have been lost. */
export type ContainerEvent =
  | 'start'
  | 'die'
  | 'oom'
  | 'restart'
  | 'health_status'
  | 'pause'
  | 'unpause'
  | 'destroy'
  | 'look'

export interface EventFacts {
  /** Of `die`. */
  readonly exitCode?: number
  /** With `look`: as the Engine lists it (running, paused, exited ...), `absent` where it does not; missing where the list failed. */
  readonly state?: string
}

type Listener = (event: ContainerEvent, facts: EventFacts) => void

const WATCHED = ['start', 'die', 'oom', 'restart', 'health_status', 'pause', 'unpause', 'destroy']
const RECONCILE_MS = 30_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000

interface EngineEvent {
  readonly Action?: string
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Readonly<Record<string, string>> }
}

/** One Engine's events about the containers of this process, over one connection that is made again when it breaks. */
export class EngineEvents {
  readonly #clients: EngineClients
  readonly #filters = { label: [`${OWNER_LABEL}=${owner()}`] }
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #watches = new Map<string, ContainerWatch>()
  readonly #closing = new AbortController()
  #opening: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(clients: EngineClients) {
    this.#clients = clients
  }

  /** Resolves when events arrive: to be awaited before what they are to tell about is started. @throws EngineError */
  open(): Promise<void> {
    this.#opening ??= this.#connect().then(
      (stream) => {
        this.#timer = setInterval(() => void this.#reconcile(), RECONCILE_MS).unref()
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

  /** What is seen of a container from now on, the same for all who ask, until it is gone. */
  watch(containerId: string): ContainerWatch {
    const known = this.#watches.get(containerId)
    if (known) return known
    const watch = new ContainerWatch(containerId)
    this.#watches.set(containerId, watch)
    const off = this.on(containerId, (event, facts) => watch.take(event, facts))
    void watch.removed.then(() => {
      off()
      this.#watches.delete(containerId)
    })
    return watch
  }

  close(): void {
    clearInterval(this.#timer)
    this.#closing.abort()
  }

  async #connect(): Promise<Readable> {
    const filters = { ...this.#filters, type: ['container' as const], event: WATCHED }
    const stream = (await call('listening to events', {}, () =>
      this.#clients.streams.getEvents({ filters }),
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
      if (stream) void this.#reconcile()
    }
  }

  async #read(stream: Readable): Promise<void> {
    try {
      for await (const { Action, Actor } of jsonLines<EngineEvent>(stream)) {
        const action = Action?.split(':')[0] as ContainerEvent | undefined
        const code = Actor?.Attributes?.exitCode
        if (action) this.#tell(Actor?.ID ?? '', action, code === undefined ? {} : { exitCode: Number(code) })
      }
    } catch {
      // The connection broke: it is made again.
    } finally {
      stream.destroy()
    }
  }

  #tell(containerId: string, event: ContainerEvent, facts: EventFacts): void {
    for (const listener of [...(this.#listeners.get(containerId) ?? [])]) listener(event, facts)
  }

  async #reconcile(): Promise<void> {
    const ids = [...this.#listeners.keys()]
    if (ids.length === 0) return
    const list = await call('listing containers', { deadlineMs: 20_000 }, (abortSignal) =>
      this.#clients.control.listContainers({ all: true, filters: this.#filters, abortSignal }),
    ).catch(() => undefined)
    const states = new Map(list?.map(({ Id, State }) => [Id, State]))
    for (const id of ids) this.#tell(id, 'look', list ? { state: states.get(id) ?? 'absent' } : {})
  }
}
