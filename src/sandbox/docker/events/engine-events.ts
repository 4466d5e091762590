import { call } from '../engine/call.ts'
import type { EngineClients } from '../engine/clients.ts'
import { OWNER_LABEL } from '../identity/labels.ts'
import { owner } from '../identity/owner.ts'
import { ContainerWatch } from './container-watch.ts'
import { type EngineEvent, EventStream } from './event-stream.ts'

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

/** One Engine's events about the containers of this process. */
export class EngineEvents {
  readonly #clients: EngineClients
  readonly #filters = { label: [`${OWNER_LABEL}=${owner()}`] }
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #watches = new Map<string, ContainerWatch>()
  readonly #stream: EventStream

  constructor(clients: EngineClients) {
    this.#clients = clients
    this.#stream = new EventStream(clients, {
      filters: { ...this.#filters, type: ['container'], event: WATCHED },
      onEvent: (event) => this.#take(event),
      onGap: () => void this.#reconcile(),
    })
  }

  /** Resolves when events arrive: to be awaited before what they are to tell about is started. @throws EngineError */
  open(): Promise<void> {
    return this.#stream.open()
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
    this.#stream.close()
  }

  #take({ Action, Actor }: EngineEvent): void {
    const action = Action?.split(':')[0] as ContainerEvent | undefined
    const code = Actor?.Attributes?.exitCode
    if (action) this.#tell(Actor?.ID ?? '', action, code === undefined ? {} : { exitCode: Number(code) })
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
