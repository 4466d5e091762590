import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { FieldReader, FieldWriter } from './fields.ts'
import { BadFrameError, encodeHeader, type Frame, FrameDecoder } from './frame.ts'
import { onAbort } from './on-abort.ts'
import { FrameType, NONCE_LENGTH, Tag } from './protocol.ts'

/** What the guest is told about its service before anything else. */
export interface GuestHello {
  /** The service's own user; left out: commands run as the guest itself. */
  readonly user?: string
  readonly cwd?: string
  /** The image's environment; left out: what the guest was started with. */
  readonly env?: Readonly<Record<string, string>>
  /** Groups added to the container, by name or number. */
  readonly groups?: readonly string[]
  readonly leaseMs?: number
  /** Nothing but the guest's commands runs in its pid namespace: it may end a fork bomb by killing everything. */
  readonly exclusive?: boolean
}

export interface GuestWelcome {
  readonly pid: number
  readonly uid: number
  readonly gid: number
  /** The guest is PID 1 of its namespace. */
  readonly init: boolean
  readonly local: boolean
  readonly cwd: string
  readonly window: number
}

/** Why a connection is over. `tampered`: a frame that no guest of ours sends. */
export type LostReason = 'closed' | 'ended' | 'error' | 'tampered' | 'silent'

export class GuestLostError extends Error {
  override readonly name = 'GuestLostError'
  readonly reason: LostReason

  constructor(reason: LostReason, cause?: unknown) {
    super(`the connection to the guest is over (${reason})`, { cause })
    this.reason = reason
  }
}

/** Who hears of the frames of one request. */
export interface ExchangeListener {
  frame(frame: Frame): void
  /** No further frame comes: the guest is lost, or the request was abandoned. */
  lost(error: Error): void
}

export interface Exchange {
  readonly id: number
  send(type: number, payload?: Buffer): void
  /** No frame of this request is listened to any more. */
  end(): void
}

export interface ConnectionOptions {
  readonly hello?: GuestHello
  readonly signal?: AbortSignal
  /** How often to tell the guest that the host lives (default 10 s). */
  readonly heartbeatMs?: number
  /** How long the guest may say nothing although asked (default 60 s), the answer to the hello included. */
  readonly silenceMs?: number
  /** Memory kills in the sandbox so far, told when one happens. */
  readonly onOom?: (kills: number) => void
}

const SILENCE_MS = 60_000

/** One conversation with a guest. The stream is always read, so that its container stays removable. */
export class GuestConnection {
  readonly lost: Promise<GuestLostError>
  readonly #stream: Duplex
  readonly #nonce = randomBytes(NONCE_LENGTH)
  readonly #listeners = new Map<number, { readonly type: number; readonly listener: ExchangeListener }>()
  readonly #options: ConnectionOptions
  #settleLost!: (error: GuestLostError) => void
  #lostError: GuestLostError | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #unanswered = 0
  #nextId = 1
  #welcome: GuestWelcome | undefined

  private constructor(stream: Duplex, options: ConnectionOptions) {
    this.#stream = stream
    this.#options = options
    this.lost = new Promise((resolve) => {
      this.#settleLost = resolve
    })
  }

  /** Says hello and waits for the answer. @throws GuestLostError, or the signal's reason; the stream is destroyed then. */
  static async open(stream: Duplex, options: ConnectionOptions = {}): Promise<GuestConnection> {
    const connection = new GuestConnection(stream, options)
    const abort = () => connection.#lose(new GuestLostError('closed', options.signal?.reason))
    using _aborting = onAbort(options.signal, abort)
    const { silenceMs = SILENCE_MS } = options
    const late = setTimeout(() => connection.#lose(new GuestLostError('silent')), silenceMs)
    try {
      options.signal?.throwIfAborted()
      connection.#listen()
      const answer = await connection.request(FrameType.hello, helloFields(options.hello ?? {}))
      connection.#welcome = readWelcome(answer.payload)
      connection.#beat()
      return connection
    } catch (error) {
      connection.close()
      options.signal?.throwIfAborted()
      throw error
    } finally {
      clearTimeout(late)
    }
  }

  get welcome(): GuestWelcome {
    if (!this.#welcome) throw new Error('the guest has not answered the hello')
    return this.#welcome
  }

  /** Sends a request; its frames go to the listener until the exchange is ended. @throws GuestLostError */
  open(type: number, payload: Buffer, listener: ExchangeListener): Exchange {
    if (this.#lostError) throw this.#lostError
    const id = this.#nextId++
    this.#listeners.set(id, { type, listener })
    const exchange: Exchange = {
      id,
      send: (frameType, framePayload) => this.#send(frameType, id, framePayload),
      end: () => void this.#listeners.delete(id),
    }
    exchange.send(type, payload)
    return exchange
  }

  /** Sends a request that is answered by one frame. */
  request(type: number, payload: Buffer = Buffer.alloc(0)): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const exchange = this.open(type, payload, {
        frame: (frame) => {
          exchange.end()
          resolve(frame)
        },
        lost: reject,
      })
    })
  }

  /** Resolves when the guest has answered. @throws GuestLostError */
  async ping(): Promise<void> {
    await this.request(FrameType.heartbeat)
  }

  /** Lets the guest and its commands live on when the stream ends. */
  async keep(): Promise<void> {
    await this.request(FrameType.keep)
  }

  /** Fails every request at once, without waiting for a guest that stands still. It ends them when it reads on. */
  abandon(error: Error): void {
    const open = [...this.#listeners]
    this.#listeners.clear()
    for (const [id, { type, listener }] of open) {
      if (type === FrameType.run) this.#send(FrameType.kill, this.#nextId++, killFields(id))
      else this.#send(FrameType.cancel, id)
      listener.lost(error)
    }
  }

  close(): void {
    this.#lose(new GuestLostError('closed'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
    await this.lost
  }

  #send(type: number, id: number, payload: Buffer = Buffer.alloc(0)): void {
    if (this.#lostError) return
    const header = encodeHeader({ type, id, length: payload.length }, this.#nonce)
    this.#stream.cork()
    this.#stream.write(header)
    if (payload.length > 0) this.#stream.write(payload)
    process.nextTick(() => this.#stream.uncork())
  }

  #listen(): void {
    const decoder = new FrameDecoder(this.#nonce)
    this.#stream.on('data', (chunk: Buffer) => {
      this.#unanswered = 0
      try {
        for (const frame of decoder.push(chunk)) this.#dispatch(frame)
      } catch (error) {
        this.#lose(new GuestLostError(error instanceof BadFrameError ? 'tampered' : 'error', error))
      }
    })
    this.#stream.on('error', (error) => this.#lose(new GuestLostError('error', error)))
    this.#stream.on('end', () => this.#lose(new GuestLostError('ended')))
    this.#stream.on('close', () => this.#lose(new GuestLostError('ended')))
  }

  #dispatch(frame: Frame): void {
    if (frame.type === FrameType.event) {
      this.#options.onOom?.(new FieldReader(frame.payload).number(Tag.oomKills) ?? 0)
      return
    }
    this.#listeners.get(frame.id)?.listener.frame(frame)
  }

  #beat(): void {
    const { heartbeatMs = 10_000, silenceMs = SILENCE_MS } = this.#options
    this.#heartbeat = setInterval(() => {
      // Counted in beats, not by the clock: a host that slept has not waited.
      if (this.#unanswered++ * heartbeatMs >= silenceMs) this.#lose(new GuestLostError('silent'))
      else this.#send(FrameType.heartbeat, 0)
    }, heartbeatMs)
    this.#heartbeat.unref()
  }

  #lose(error: GuestLostError): void {
    if (this.#lostError) return
    this.#lostError = error
    clearInterval(this.#heartbeat)
    this.#stream.destroy()
    const open = [...this.#listeners.values()]
    this.#listeners.clear()
    for (const { listener } of open) listener.lost(error)
    this.#settleLost(error)
  }
}

function killFields(target: number): Buffer {
  return new FieldWriter().add(Tag.target, target).finish()
}

function helloFields(hello: GuestHello): Buffer {
  return new FieldWriter()
    .add(Tag.user, hello.user)
    .add(Tag.cwd, hello.cwd)
    .addAll(
      Tag.env,
      Object.entries(hello.env ?? {}).map(([name, value]) => `${name}=${value}`),
    )
    .addAll(Tag.group, hello.groups ?? [])
    .add(Tag.leaseMs, hello.leaseMs)
    .add(Tag.exclusive, hello.exclusive)
    .finish()
}

function readWelcome(payload: Buffer): GuestWelcome {
  const fields = new FieldReader(payload)
  return {
    pid: fields.number(Tag.pid) ?? 0,
    uid: fields.number(Tag.uid) ?? 0,
    gid: fields.number(Tag.gid) ?? 0,
    init: fields.number(Tag.init) === 1,
    local: fields.number(Tag.local) === 1,
    cwd: fields.text(Tag.cwd) ?? '/',
    window: fields.number(Tag.window) ?? 0,
  }
}
