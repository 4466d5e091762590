import { findGuestBinary, guestArchitecture } from '../../guest/binary.ts'
import type { ProviderContext } from '../../provider.ts'
import type { ContainerPlan, SandboxPlan } from '../../sandbox-plan.ts'
import type { Engine } from '../engine/engine.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import { GuestVolumes, guestMount } from './guest-volumes.ts'
import { forgery, type Placement, placeGuest } from './placement.ts'

export type Transport = 'guest' | 'engine'

export interface GuestsOptions {
  /** `engine`: no guest anywhere (default `guest`, where it can run). */
  readonly transport?: Transport | undefined
  /** Containers outlive their guest's stream when they are told to (`keep`). */
  readonly keep?: boolean | undefined
}

/** How the guest comes into one service. */
export interface Delivery {
  readonly placement: Placement
  readonly mount?: Readonly<Record<string, unknown>>
  /** The container removes itself when it ends. */
  readonly autoRemove: boolean
}

/** What the guests of one engine share: the volumes that carry them. */
export class Guests {
  readonly #engine: Engine
  readonly #volumes: GuestVolumes | undefined
  readonly #unusable: string | undefined
  #autoRemove: boolean
  readonly #told = new Set<string>()

  constructor(engine: Engine, options: GuestsOptions = {}) {
    this.#engine = engine
    this.#autoRemove = !options.keep
    const { os, architecture: name } = engine.facts
    const architecture = os === 'linux' ? guestArchitecture(name) : undefined
    const binary = architecture && findGuestBinary(architecture)
    if (options.transport === 'engine') this.#unusable = 'it was asked for none'
    else if (binary) this.#volumes = new GuestVolumes(engine, binary)
    else this.#unusable = `there is none built for ${os}/${name}`
  }

  /** Containers made from now on stay until they are removed, also when their main process ends. */
  mayOutlive(): void {
    this.#autoRemove = false
  }

  place(container: ContainerPlan, image: PreparedImage): Placement {
    return placeGuest(container, image.entrypoint, this.#unusable)
  }

  /** How each service will be reached. Why one is without a guest, or with one that is no proof, is told once. */
  transports(
    plan: SandboxPlan,
    images: ReadonlyMap<string, PreparedImage>,
    context: Pick<ProviderContext, 'report'>,
  ): Record<string, Transport> {
    const tell = (reason: string, report: { kind: 'start' | 'warning'; message: string }) => {
      if (!this.#told.has(reason)) context.report?.(report)
      this.#told.add(reason)
    }
    const transports: Record<string, Transport> = {}
    for (const { name, container } of plan.services) {
      const image = images.get(name)
      if (!image || container.helper) continue
      const placement = this.place(container, image)
      transports[name] = placement.kind === 'engine' ? 'engine' : 'guest'
      const reason = placement.kind === 'engine' ? placement.reason : forgery(container, image.user)
      const message =
        placement.kind === 'engine'
          ? `service '${name}' is reached through the Engine's own exec, without a guest: ${reason}`
          : `service '${name}': ${reason}`
      if (reason !== undefined)
        tell(reason, { kind: placement.kind === 'engine' ? 'start' : 'warning', message })
    }
    return transports
  }

  /** Sees to it that a container made now can have the guest. @throws EngineError */
  async deliver(container: ContainerPlan, image: PreparedImage, context: { run: string }): Promise<Delivery> {
    const placement = this.place(container, image)
    if (placement.kind === 'engine' || !this.#volumes) return { placement, autoRemove: false }
    const { run } = context
    const [volume] = await Promise.all([this.#volumes.forRun(run, image.id), this.#engine.events.open()])
    const autoRemove = this.#autoRemove && placement.kind === 'init'
    return { placement, mount: guestMount(volume, run), autoRemove }
  }

  /** The run's volume was found missing. */
  forget(run: string): void {
    this.#volumes?.forget(run)
  }

  /** To be called before the run's objects are removed, its volume among them. */
  async endRun(run: string): Promise<void> {
    await this.#volumes?.end(run)
  }
}
