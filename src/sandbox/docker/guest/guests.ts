import { findGuestBinary, guestArchitecture } from '../../guest/binary.ts'
import type { ContainerPlan } from '../../sandbox-plan.ts'
import type { Engine } from '../engine/engine.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import { EngineWatch } from './engine-watch.ts'
import { GuestVolumes, guestMount } from './guest-volumes.ts'
import { type Placement, placeGuest } from './placement.ts'

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

/** What the guests of one engine share: the volumes that carry them and the watch over their containers. */
export class Guests {
  readonly watch: EngineWatch
  readonly #volumes: GuestVolumes | undefined
  readonly #unusable: string | undefined
  #autoRemove: boolean

  constructor(engine: Engine, options: GuestsOptions = {}) {
    this.watch = new EngineWatch(engine)
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

  /** Sees to it that a container made now can have the guest. @throws EngineError */
  async deliver(container: ContainerPlan, image: PreparedImage, context: { run: string }): Promise<Delivery> {
    const placement = this.place(container, image)
    if (placement.kind === 'engine' || !this.#volumes) return { placement, autoRemove: false }
    const { run } = context
    const [volume] = await Promise.all([this.#volumes.forRun(run, image.id), this.watch.open()])
    const autoRemove = this.#autoRemove && placement.kind === 'init'
    return { placement, mount: guestMount(volume, run), autoRemove }
  }

  /** The run's objects were removed, its volume among them. */
  forget(run: string): void {
    this.#volumes?.forget(run)
  }

  close(): void {
    this.watch.close()
  }
}
