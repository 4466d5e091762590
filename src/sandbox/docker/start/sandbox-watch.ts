import { SandboxUnavailableError } from '../../../errors.ts'
import type { SandboxReport } from '../../provider.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { findUnavailable, logTail } from '../container/post-mortem.ts'
import type { ServiceContainer } from '../container/start-service.ts'
import type { Engine } from '../engine/engine.ts'
import type { ContainerEvent } from '../events/engine-events.ts'
import type { ServiceSandbox } from '../guest/service-sandbox.ts'
import { inspectContainer } from './look-until.ts'
import { type NetworkedContainer, NetworkWatch } from './network-watch.ts'

export interface WatchedService {
  readonly containers: readonly ServiceContainer[]
  readonly sandbox: ServiceSandbox | undefined
  /** A service beside the default one may end with exit code 0: it has done its work. */
  readonly mayComplete: boolean
}

/** Watches the services of a started sandbox: when one dies or loses a network, the whole sandbox is unavailable, with the cause. */
export class SandboxWatch implements Disposable {
  readonly #services: readonly WatchedService[]
  readonly #report: (report: SandboxReport) => void
  readonly #offs: readonly (() => void)[]
  readonly #networks: NetworkWatch
  #failure: SandboxUnavailableError | undefined
  #closed = false

  constructor(parts: {
    services: readonly WatchedService[]
    networked: readonly NetworkedContainer[]
    engine: Pick<Engine, 'events' | 'networkEvents'>
    report: (report: SandboxReport) => void
  }) {
    this.#services = parts.services
    this.#report = parts.report
    this.#offs = parts.services.flatMap((watched) =>
      watched.containers.map((container) =>
        parts.engine.events.on(container.ref.id, (event, { state }) => {
          if (event === 'die' || (event === 'look' && state !== 'running'))
            void this.#look(watched, container.ref, event)
        }),
      ),
    )
    this.#networks = new NetworkWatch({
      containers: parts.networked,
      events: parts.engine.networkEvents,
      onLost: (failure) => void this.#fail(failure),
    })
  }

  /** Why no call can succeed any more. */
  get failure(): SandboxUnavailableError | undefined {
    return this.#failure
  }

  /** To be called before the containers are removed. */
  [Symbol.dispose](): void {
    this.#closed = true
    for (const off of this.#offs) off()
    this.#networks[Symbol.dispose]()
  }

  /** The same sandbox, whose calls fail at once when any service has died. */
  guarded(sandbox: ServiceSandbox): ServiceSandbox {
    return new Proxy(sandbox, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        const bound = value.bind(target) as (...given: unknown[]) => unknown
        if (!GUARDED.has(String(key))) return bound
        return (...given: unknown[]) => this.#guard(() => bound(...given))
      },
    })
  }

  /** What was in flight when the service died has failed of that, whatever it says itself. */
  async #guard(send: () => unknown): Promise<unknown> {
    if (this.#failure) throw this.#failure
    try {
      return await send()
    } catch (error) {
      throw this.#failure ?? error
    }
  }

  async #look(watched: WatchedService, ref: ContainerRef, event: ContainerEvent): Promise<void> {
    const failure = await causeOf(watched, ref, event).catch(() => undefined)
    if (failure) await this.#fail(failure)
  }

  async #fail(failure: SandboxUnavailableError): Promise<void> {
    if (this.#closed || this.#failure) return
    this.#failure = failure
    const details = failure.postMortem ? `\n${failure.postMortem}` : ''
    this.#report({ kind: 'warning', message: `${failure.message}${details}` })
    await Promise.allSettled(this.#services.map(({ sandbox }) => sandbox?.stopCommands(failure)))
  }
}

async function causeOf(
  { mayComplete }: WatchedService,
  ref: ContainerRef,
  event: ContainerEvent,
): Promise<SandboxUnavailableError | undefined> {
  const { State, RestartCount, Config } = await inspectContainer(ref)
  if (State.Running && event === 'die' && RestartCount > 0) {
    const message = `the sandbox service '${ref.service}' is unavailable: its container ended and its restart policy started it again`
    const logs = await logTail(ref, Config.Tty)
    return new SandboxUnavailableError(message, {
      reason: 'exited',
      service: ref.service,
      postMortem: `restarted ${RestartCount} times, last exit code ${State.ExitCode}\nlast log lines:\n${logs}`,
    })
  }
  if (mayComplete && State.Status === 'exited' && State.ExitCode === 0) return undefined
  const found = await findUnavailable(ref)
  return found?.reason === 'daemon' || found?.reason === 'paused' ? undefined : found
}

const GUARDED = new Set([
  'exec',
  'spawn',
  'readFile',
  'readText',
  'writeFile',
  'upload',
  'download',
  'stat',
  'exists',
  'list',
  'remove',
])
