import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage, SandboxUnavailableError } from '../../../errors.ts'
import { linkedController } from '../../../util/linked-controller.ts'
import { attachStream } from '../../guest/attach-stream.ts'
import { GuestConnection, type GuestHello, type GuestLostError } from '../../guest/connection.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { findUnavailable, isGone, PAUSED, unavailable } from '../container/post-mortem.ts'
import { call } from '../engine/call.ts'
import type { ContainerWatch } from '../events/container-watch.ts'
import { isPaused, onLastingPause } from '../events/lasting-pause.ts'
import type { GuestLink } from './docker-guest-sandbox.ts'
import { exitCause } from './exit-cause.ts'

const ANSWER_MS = 30_000
const DEATH_KNOWN_MS = 1000
const OOM_KNOWN_MS = 100
const REMOVED_MS = 3000

export interface InitGuestOptions {
  readonly hello: GuestHello
  readonly autoRemove: boolean
  readonly signal?: AbortSignal | undefined
}

/** The guest as the main process of a container: its life is the container's. */
export class InitGuest implements GuestLink {
  readonly #container: ContainerRef
  readonly #connection: GuestConnection
  readonly #watch: ContainerWatch
  readonly #autoRemove: boolean
  #cause: Promise<SandboxUnavailableError> | undefined

  private constructor(
    container: ContainerRef,
    parts: { connection: GuestConnection; watch: ContainerWatch; autoRemove: boolean },
  ) {
    this.#container = container
    this.#connection = parts.connection
    this.#watch = parts.watch
    this.#autoRemove = parts.autoRemove
    onLastingPause(this.#watch, () => this.#connection.abandon(unavailable(container.service, PAUSED)))
  }

  /** Starts a created container and resolves when its guest has answered. The host's hello waits in the stream for it. */
  static async start(container: ContainerRef, options: InitGuestOptions): Promise<InitGuest> {
    const { autoRemove, hello, signal } = options
    const watch = container.engine.events.watch(container.id)
    const socket = await attach(container)
    waitFor(container, watch, autoRemove)
    using waiting = linkedController(signal)
    const opening = GuestConnection.open(attachStream(socket), { hello, signal: waiting.signal })
    opening.catch(() => undefined)
    try {
      await call('starting a container', { deadlineMs: 120_000 }, () => container.control.start())
    } catch (error) {
      socket.destroy()
      throw error
    }
    const late = setTimeout(() => waiting.abort(new Error(`no answer in ${ANSWER_MS} ms`)), ANSWER_MS)
    try {
      return new InitGuest(container, { connection: await opening, watch, autoRemove })
    } catch (error) {
      signal?.throwIfAborted()
      throw startFailure(container, watch, { cause: error, late: waiting.signal.aborted })
    } finally {
      clearTimeout(late)
    }
  }

  async connect(): Promise<GuestConnection> {
    if (await isPaused(this.#watch)) throw unavailable(this.#container.service, PAUSED)
    return this.#connection
  }

  async explain(lost: GuestLostError): Promise<SandboxUnavailableError> {
    this.#cause ??= this.#findCause(lost)
    return this.#cause
  }

  keep(): Promise<void> {
    return this.#connection.keep()
  }

  /** Its container ends with its stream and removes itself; false where that takes long or is not so. */
  async end(): Promise<boolean> {
    this.#container.engine.openStreams.retire(this.#container.id)
    this.#connection.close()
    if (!this.#autoRemove || this.#watch.paused) return false
    return Promise.race([this.#watch.removed.then(() => true), sleep(REMOVED_MS, false, { ref: false })])
  }

  async #findCause(lost: GuestLostError): Promise<SandboxUnavailableError> {
    const { engine, id, service } = this.#container
    if (engine.openStreams.isRetired(id)) {
      const message = 'it is being removed or has been'
      return unavailable(service, { reason: 'removed', message, cause: lost })
    }
    if (lost.reason !== 'tampered' && !(await this.#isDead())) {
      const found = await findUnavailable(this.#container, lost)
      const message = `the connection to its guest is over (${lost.reason})`
      return found ?? unavailable(service, { reason: 'unknown', message, cause: lost })
    }
    if (!this.#watch.oom) await sleep(OOM_KNOWN_MS)
    const { oom, exitCode } = this.#watch
    const postMortem = `exit code ${exitCode ?? 'unknown'}, out of memory ${oom}, connection ${lost.reason}`
    // One that removes itself is gone after either: the Engine's events do not tell them apart.
    const removed = !this.#autoRemove && (await isGone(this.#container))
    const found = exitCause({ lost: lost.reason, oom, exitCode, removed })
    return unavailable(service, { ...found, postMortem, cause: lost })
  }

  async #isDead(): Promise<boolean> {
    return Promise.race([
      this.#watch.diedAfter(0).then(() => true),
      sleep(DEATH_KNOWN_MS, false, { ref: false }),
    ])
  }
}

async function attach(container: ContainerRef): Promise<Duplex> {
  const options = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true }
  const socket = await call('attaching to a container', {}, () => container.streams.attach(options))
  container.engine.openStreams.add(container.id, socket as Duplex)
  return socket as Duplex
}

/** Asked before the start, so that not even the shortest life is missed. */
function waitFor(container: ContainerRef, watch: ContainerWatch, autoRemove: boolean): void {
  const condition = autoRemove ? 'removed' : 'next-exit'
  const waiting: Promise<{ StatusCode?: number }> = container.streams.wait({ condition })
  waiting.then(
    ({ StatusCode }) => watch.takeWait(StatusCode, autoRemove),
    () => undefined,
  )
}

function startFailure(
  container: ContainerRef,
  watch: ContainerWatch,
  { cause, late }: { cause: unknown; late: boolean },
): SandboxUnavailableError {
  const { service } = container
  const code = watch.exitCode === undefined ? errorMessage(cause) : `exit code ${watch.exitCode}`
  return new SandboxUnavailableError(
    `the sandbox service '${service}' did not start: its guest gave no answer (${code})`,
    { reason: late ? 'start-timeout' : 'start', service, cause },
  )
}
