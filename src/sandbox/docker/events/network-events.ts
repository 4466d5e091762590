import type { EngineClients } from '../engine/clients.ts'
import { type EngineEvent, EventStream } from './event-stream.ts'

/** What was told of a network: it is gone, a container was taken from it, or something of that may have been missed. */
export type NetworkEvent =
  | { readonly kind: 'destroy' | 'look' }
  | { readonly kind: 'disconnect'; readonly containerId: string }

type Listener = (event: NetworkEvent) => void

/** One Engine's events about networks: they carry no labels, so they are all networks', and names tell which. */
export class NetworkEvents {
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #stream: EventStream

  constructor(clients: EngineClients) {
    this.#stream = new EventStream(clients, {
      filters: { type: ['network'], event: ['disconnect', 'destroy'] },
      onEvent: (event) => this.#take(event),
      onGap: () => {
        for (const name of this.#listeners.keys()) this.#tell(name, { kind: 'look' })
      },
    })
  }

  /** Resolves when events arrive. @throws EngineError */
  open(): Promise<void> {
    return this.#stream.open()
  }

  on(name: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name)
    }
  }

  close(): void {
    this.#stream.close()
  }

  #take({ Action, Actor: { Attributes = {} } = {} }: EngineEvent): void {
    const { name = '', container: containerId = '' } = Attributes
    if (Action === 'destroy') this.#tell(name, { kind: 'destroy' })
    else if (Action === 'disconnect') this.#tell(name, { kind: 'disconnect', containerId })
  }

  #tell(name: string, event: NetworkEvent): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) listener(event)
  }
}
