import { setTimeout as pause } from 'node:timers/promises'
import type { SandboxUnavailableError } from '../../../errors.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { unavailable } from '../container/post-mortem.ts'
import type { NetworkEvent, NetworkEvents } from '../events/network-events.ts'
import { inspectContainer } from './look-until.ts'

export interface NetworkedContainer {
  readonly ref: ContainerRef
  /** Real names. */
  readonly networks: readonly string[]
}

/** A container that ends leaves its networks too, and is reported as ended a moment later. */
const SETTLE_MS = 200

/** Watches that the running containers of a sandbox stay on their networks. */
export class NetworkWatch implements Disposable {
  readonly #containers: readonly NetworkedContainer[]
  readonly #onLost: (error: SandboxUnavailableError) => void
  readonly #offs: readonly (() => void)[]

  constructor(parts: {
    containers: readonly NetworkedContainer[]
    events: NetworkEvents
    onLost: (error: SandboxUnavailableError) => void
  }) {
    this.#containers = parts.containers
    this.#onLost = parts.onLost
    const names = new Set(parts.containers.flatMap(({ networks }) => networks))
    this.#offs = [...names].map((name) => parts.events.on(name, (event) => this.#take(name, event)))
  }

  [Symbol.dispose](): void {
    for (const off of this.#offs) off()
  }

  #take(name: string, event: NetworkEvent): void {
    for (const { ref, networks } of this.#containers) {
      const isMeant = event.kind !== 'disconnect' || event.containerId === ref.id
      if (isMeant && networks.includes(name)) void this.#look(ref, name).catch(() => undefined)
    }
  }

  async #look(ref: ContainerRef, name: string): Promise<void> {
    await pause(SETTLE_MS)
    const { State, NetworkSettings } = await inspectContainer(ref)
    if (!State.Running || Object.hasOwn(NetworkSettings.Networks, name)) return
    const message = `its network ${name} was removed or taken from it`
    this.#onLost(
      unavailable(ref.service, { reason: 'removed', message, postMortem: `status ${State.Status}` }),
    )
  }
}
