import { setTimeout as sleep } from 'node:timers/promises'
import { BelljarError, type SandboxUnavailableError } from '../../../errors.ts'
import { attachStream } from '../../guest/attach-stream.ts'
import { GuestConnection, type GuestHello, type GuestLostError } from '../../guest/connection.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { findUnavailable, PAUSED, unavailable } from '../container/post-mortem.ts'
import type { ContainerWatch } from '../events/container-watch.ts'
import { isPaused, onLastingPause } from '../events/lasting-pause.ts'
import { type ExecChannel, execExitCode, openExec } from '../exec/exec-channel.ts'
import type { GuestLink } from './docker-guest-sandbox.ts'
import { GUEST_PATH } from './paths.ts'

const SIGNALLED = 128
const MOST_STARTS = 2
const DEATH_KNOWN_MS = 500
const ANSWER_MS = 30_000

export interface ExecGuestOptions {
  readonly hello: GuestHello
  /** Else as the service's own user, who then is the only one that commands may have. */
  readonly asRoot: boolean
  /** Told when the guest was killed from inside and is started again. */
  readonly onRestart: () => void
}

/** A guest that cannot run in a container which is alive. */
export class GuestCannotRunError extends BelljarError {
  constructor(service: string, cause: unknown) {
    super('guest-cannot-run', `the guest cannot run in service '${service}'`, { cause })
  }
}

interface Life {
  readonly channel: ExecChannel
  readonly connection: GuestConnection
  /** Deaths of the container before it. */
  readonly deaths: number
  lost: GuestLostError | undefined
}

/** A guest that an exec started beside the service's own main process: at first use, and once more when it was killed from inside. */
export class ExecGuest implements GuestLink {
  readonly #container: ContainerRef
  readonly #options: ExecGuestOptions
  readonly #watch: ContainerWatch
  #life: Promise<Life> | undefined
  #kills = 0
  #final: SandboxUnavailableError | undefined

  constructor(container: ContainerRef, options: ExecGuestOptions) {
    this.#container = container
    this.#options = options
    this.#watch = container.engine.events.watch(container.id)
    onLastingPause(this.#watch, () => void this.#abandon(unavailable(container.service, PAUSED)))
  }

  async connect(): Promise<GuestConnection> {
    if (this.#final) throw this.#final
    if (await isPaused(this.#watch)) throw unavailable(this.#container.service, PAUSED)
    const current = await this.#current()
    if (!current.lost) return current.connection
    const judged = await this.#judge(current, current.lost)
    if (judged.final) throw judged.error
    return (await this.#current()).connection
  }

  async explain(lost: GuestLostError): Promise<SandboxUnavailableError> {
    const life = await this.#life
    if (!life) return this.#error('killed', 'its guest was killed from inside', lost)
    return (await this.#judge(life, lost)).error
  }

  async end(): Promise<boolean> {
    this.#container.engine.openStreams.retire(this.#container.id)
    return false
  }

  async #abandon(error: SandboxUnavailableError): Promise<void> {
    const life = await this.#life?.catch(() => undefined)
    life?.connection.abandon(error)
  }

  async #current(): Promise<Life> {
    if (!this.#life) {
      const life = this.#start()
      this.#life = life
      life.catch(() => {
        if (this.#life === life) this.#life = undefined
      })
    }
    return this.#life
  }

  async #start(): Promise<Life> {
    const { hello, asRoot } = this.#options
    const { deaths } = this.#watch
    let channel: ExecChannel | undefined
    try {
      const user = asRoot ? '0:0' : undefined
      channel = await openExec(this.#container, { argv: [GUEST_PATH], user, stdin: true })
      const signal = AbortSignal.timeout(ANSWER_MS)
      const connection = await GuestConnection.open(attachStream(channel.socket), { hello, signal })
      const life: Life = { channel, connection, deaths, lost: undefined }
      void connection.lost.then((lost) => {
        life.lost = lost
      })
      return life
    } catch (error) {
      const dead = await findUnavailable(this.#container, error)
      if (dead) throw dead
      const { service } = this.#container
      if (channel && (await hasFailed(channel))) throw new GuestCannotRunError(service, error)
      throw unavailable(service, {
        reason: 'unknown',
        message: 'its guest could not be reached',
        cause: error,
      })
    }
  }

  /** What the loss of one guest means; asked for any number of times, counted once. */
  async #judge(
    life: Life,
    lost: GuestLostError,
  ): Promise<{ final: boolean; error: SandboxUnavailableError }> {
    life.lost ??= lost
    const killed = lost.reason !== 'tampered' && (await this.#wasKilled(life))
    const dead = await findUnavailable(this.#container, lost)
    if (dead) return { final: true, error: dead }
    if (lost.reason === 'tampered') return this.#end('tampered', 'something wrote to its guest', lost)
    if (!killed) return this.#again(life, 'the connection to its guest broke', lost)
    if (await this.#isCounted(life)) {
      this.#kills += 1
      if (this.#kills < MOST_STARTS) this.#options.onRestart()
    }
    if (this.#kills >= MOST_STARTS) return this.#end('killed', 'its guest was killed from inside twice', lost)
    return this.#again(life, 'its guest was killed from inside (it is started again)', lost)
  }

  /** A service that its own policy restarted has lost its guest without anybody killing that. */
  async #wasKilled({ channel, deaths }: Life): Promise<boolean> {
    const watch = this.#watch
    const exitCode = await execExitCode(channel.exec, 2000).catch(() => 0)
    // The end of the container ends the guest first, and is told later.
    if (exitCode > SIGNALLED) await Promise.race([watch.diedAfter(deaths), sleep(DEATH_KNOWN_MS)])
    return exitCode > SIGNALLED && watch.deaths === deaths
  }

  async #isCounted(life: Life): Promise<boolean> {
    return (await this.#life) === life
  }

  #again(life: Life, message: string, lost: GuestLostError) {
    void this.#life?.then((current) => {
      if (current === life) this.#life = undefined
    })
    return { final: false, error: this.#error('killed', message, lost) }
  }

  #end(reason: 'killed' | 'tampered', message: string, lost: GuestLostError) {
    this.#final = this.#error(reason, message, lost)
    return { final: true, error: this.#final }
  }

  #error(reason: 'killed' | 'tampered', message: string, cause: GuestLostError): SandboxUnavailableError {
    return unavailable(this.#container.service, { reason, message, cause })
  }
}

/** Whether a guest has ended by itself; one that runs, or ended with its stream, would serve if it were reached. */
async function hasFailed({ exec, socket }: ExecChannel): Promise<boolean> {
  socket.destroy()
  return execExitCode(exec, 3000).then(
    (exitCode) => exitCode !== 0,
    () => false,
  )
}
