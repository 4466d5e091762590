import type { SandboxUnavailableError } from '../../../errors.ts'
import type { GuestConnection, GuestLostError } from '../../guest/connection.ts'
import { TrackedGuestSandbox } from '../../guest/tracked-sandbox.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { GUEST_PATH } from './paths.ts'
import { type ServiceSandbox, shellCommandOf } from './service-sandbox.ts'

/** The life of a guest in a container. */
export interface GuestLink {
  connect(): Promise<GuestConnection>
  explain(lost: GuestLostError): Promise<SandboxUnavailableError>
  keep?(): Promise<void>
  end(): Promise<boolean>
}

/** A service that is reached through the guest in its container. */
export class DockerGuestSandbox extends TrackedGuestSandbox implements ServiceSandbox {
  readonly container: ContainerRef
  readonly #link: GuestLink

  constructor(container: ContainerRef, link: GuestLink, options: { strict: boolean }) {
    super({
      service: container.service,
      connect: () => link.connect(),
      explain: (lost) => link.explain(lost),
      shellCommand: () => shellCommandOf(container),
      program: GUEST_PATH,
      ...options,
    })
    this.container = container
    this.#link = link
  }

  /** Starts the guest where it is not yet there. */
  async ready(): Promise<void> {
    await this.#link.connect()
  }

  async keep(): Promise<void> {
    await this.#link.keep?.()
  }

  end(): Promise<boolean> {
    return this.#link.end()
  }
}
