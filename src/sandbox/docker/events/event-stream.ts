import type { Readable } from 'node:stream'
import { sleep } from '../../../util/abort.ts'
import { call } from '../engine/call.ts'
import type { EngineClients } from '../engine/clients.ts'
import { jsonLines } from '../image/json-lines.ts'

export interface EngineEvent {
  readonly Action?: string
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Readonly<Record<string, string>> }
}

export interface EventStreamOptions {
  readonly filters: Readonly<Record<string, readonly string[]>>
  readonly onEvent: (event: EngineEvent) => void
  /** Events may have been lost: told after each time that the connection was made again, and every 30 s. */
  readonly onGap: () => void
}

const GAP_MS = 30_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000

/** One sort of an Engine's events, over one connection that is made again when it breaks. */
export class EventStream {
  readonly #clients: EngineClients
  readonly #options: EventStreamOptions
  readonly #closing = new AbortController()
  #opening: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(clients: EngineClients, options: EventStreamOptions) {
    this.#clients = clients
    this.#options = options
  }

  /** Resolves when events arrive: to be awaited before what they are to tell about is started. @throws EngineError */
  open(): Promise<void> {
    this.#opening ??= this.#connect().then(
      (stream) => {
        this.#timer = setInterval(this.#options.onGap, GAP_MS).unref()
        void this.#follow(stream)
      },
      (error: unknown) => {
        this.#opening = undefined
        throw error
      },
    )
    return this.#opening
  }

  close(): void {
    clearInterval(this.#timer)
    this.#closing.abort()
  }

  async #connect(): Promise<Readable> {
    const { filters } = this.#options
    const stream = (await call('listening to events', {}, () =>
      this.#clients.streams.getEvents({ filters: filters as Record<string, string[]> }),
    )) as Readable
    const end = () => stream.destroy()
    if (this.#closing.signal.aborted) end()
    this.#closing.signal.addEventListener('abort', end, { once: true })
    stream.once('close', () => this.#closing.signal.removeEventListener('abort', end))
    return stream
  }

  async #follow(first: Readable): Promise<void> {
    let stream: Readable | undefined = first
    for (let pauseMs = FIRST_PAUSE_MS; !this.#closing.signal.aborted; ) {
      if (stream) {
        await this.#read(stream)
        pauseMs = FIRST_PAUSE_MS
      }
      await sleep(pauseMs, this.#closing.signal).catch(() => undefined)
      if (this.#closing.signal.aborted) return
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      stream = await this.#connect().catch(() => undefined)
      if (stream) this.#options.onGap()
    }
  }

  async #read(stream: Readable): Promise<void> {
    try {
      for await (const event of jsonLines<EngineEvent>(stream)) this.#options.onEvent(event)
    } catch {
      // The connection broke: it is made again.
    } finally {
      stream.destroy()
    }
  }
}
