import type { Duplex } from 'node:stream'
import { SandboxUnavailableError, UnsupportedError } from '../../errors.ts'
import type { ListenOptions, ProcessExit, Sandbox, SandboxListener, SandboxProcess } from '../sandbox.ts'
import { RelayConnection } from './relay-connection.ts'
import { RelayFrameType, relayFrame, relayFrames } from './relay-frames.ts'

const PORT_TAKEN = 75

export interface RelayOptions extends ListenOptions {
  /** argv that starts the relay; the port is added. */
  readonly command: readonly string[]
  readonly onConnection: (connection: Duplex) => void
}

/** Starts a relay in the sandbox. @throws UnsupportedError, SandboxUnavailableError */
export async function listenInSandbox(
  sandbox: Pick<Sandbox, 'spawn' | 'service'>,
  { command, onConnection, port = 0, signal }: RelayOptions,
): Promise<SandboxListener> {
  const argv = [...command, String(port)]
  const start = (user?: string) =>
    sandbox.spawn(argv, { stdin: true, signal, ...(user && { user }), cwd: '/' })
  // As root where that can be had: then what runs in the sandbox as another user cannot end it.
  const process = await start('0').catch((error: unknown) => {
    if (error instanceof UnsupportedError) return start()
    throw error
  })
  const listener = new Listener(process, { onConnection, signal, service: sandbox.service })
  await listener.started
  return listener
}

interface ListenerOptions extends Pick<RelayOptions, 'onConnection' | 'signal'> {
  readonly service: string
}

class Listener implements SandboxListener {
  readonly started: Promise<void>
  readonly closed: Promise<void>
  readonly #process: SandboxProcess
  readonly #options: ListenerOptions
  readonly #connections = new Map<number, RelayConnection>()
  #port = 0
  #closing = false
  #begun!: () => void

  constructor(process: SandboxProcess, options: ListenerOptions) {
    this.#process = process
    this.#options = options
    const begun = new Promise<void>((resolve) => {
      this.#begun = resolve
    })
    this.closed = this.#serve()
    this.closed.catch(() => undefined)
    this.started = Promise.race([begun, this.closed])
  }

  get port(): number {
    return this.#port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true
    await this.#process.kill().catch(() => undefined)
    await this.closed.catch(() => undefined)
  }

  async #serve(): Promise<void> {
    let failure: unknown
    try {
      for await (const { type, connection, payload } of relayFrames(this.#process.stdout)) {
        if (type === RelayFrameType.listening) this.#listening(payload)
        else if (type === RelayFrameType.open) this.#open(connection)
        else this.#take(connection, type, payload)
      }
    } catch (error) {
      failure = error
      await this.#process.kill().catch(() => undefined)
    }
    const exit = await this.#process.wait().catch((error: unknown) => {
      failure ??= error
    })
    this.#end(failure, exit ?? undefined)
  }

  #listening(payload: Buffer): void {
    this.#port = payload.readUInt32LE(0)
    this.#begun()
  }

  #open(id: number): void {
    const connection = new RelayConnection((type, payload) => {
      if (type === RelayFrameType.close) {
        if (!this.#connections.delete(id)) return
      }
      this.#process.write(relayFrame(type, id, payload)).catch(() => undefined)
    })
    connection.on('error', () => undefined)
    this.#connections.set(id, connection)
    this.#options.onConnection(connection)
  }

  #take(id: number, type: number, payload: Buffer): void {
    const connection = this.#connections.get(id)
    if (type === RelayFrameType.close) this.#connections.delete(id)
    connection?.receive(type, payload)
  }

  #end(failure: unknown, exit: ProcessExit | undefined): void {
    const closing = this.#closing || this.#options.signal?.aborted
    const error = closing ? undefined : this.#lost(failure, exit)
    for (const connection of this.#connections.values()) connection.destroy(error)
    this.#connections.clear()
    if (error) throw error
  }

  #lost(failure: unknown, exit: ProcessExit | undefined): Error {
    if (failure instanceof SandboxUnavailableError) return failure
    if (exit?.launchError)
      return new UnsupportedError(`the relay could not be started: ${exit.launchError.message}`)
    if (exit?.exitCode === PORT_TAKEN)
      return new UnsupportedError('the port is in use inside the sandbox already')
    const how = exit?.signal ? `killed by ${exit.signal}` : `exit code ${exit?.exitCode ?? 'unknown'}`
    return new SandboxUnavailableError(`the relay in service '${this.#options.service}' has ended (${how})`, {
      reason: 'killed',
      service: this.#options.service,
      cause: failure,
    })
  }
}
