import type { SandboxUnavailableError } from '../../../errors.ts'
import type { GuestConnection, GuestLostError } from '../../guest/connection.ts'
import type { GuestExecOptions } from '../../guest/exec.ts'
import { GuestSandbox } from '../../guest/guest-sandbox.ts'
import type { GuestSpawnOptions } from '../../guest/process.ts'
import type { ExecResult, SandboxProcess } from '../../sandbox.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { InFlight } from './in-flight.ts'
import { type ServiceSandbox, shellCommandOf } from './service-sandbox.ts'

/** The life of a guest in a container. */
export interface GuestLink {
  connect(): Promise<GuestConnection>
  explain(lost: GuestLostError): Promise<SandboxUnavailableError>
  keep?(): Promise<void>
  end(): Promise<boolean>
}

/** A service that is reached through the guest in its container. */
export class DockerGuestSandbox extends GuestSandbox implements ServiceSandbox {
  readonly container: ContainerRef
  readonly #link: GuestLink
  readonly #inFlight = new InFlight()

  constructor(container: ContainerRef, link: GuestLink, options: { strict: boolean }) {
    super({
      service: container.service,
      connect: () => link.connect(),
      explain: (lost) => link.explain(lost),
      shellCommand: () => shellCommandOf(container),
      ...options,
    })
    this.container = container
    this.#link = link
  }

  override exec(command: readonly string[], options: GuestExecOptions = {}): Promise<ExecResult> {
    return this.#inFlight.exec(command, options.signal, (signal) =>
      super.exec(command, { ...options, signal }),
    )
  }

  override spawn(command: readonly string[], options: GuestSpawnOptions = {}): Promise<SandboxProcess> {
    return this.#inFlight.spawn(command, () => super.spawn(command, options))
  }

  stopCommands(reason: unknown): Promise<readonly (readonly string[])[]> {
    return this.#inFlight.stopAll(reason)
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
