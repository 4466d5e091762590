import { Duplex } from 'node:stream'
import { RELAY_DATA_MAX, RELAY_WINDOW, RelayFrameType, relayNumber } from './relay-frames.ts'

type Send = (type: number, payload?: Uint8Array) => void
type Done = (error?: Error | null) => void

/** One connection that was made inside the sandbox, as a stream of this process. Neither side sends more than the other has room for. */
export class RelayConnection extends Duplex {
  readonly #send: Send
  #credit = RELAY_WINDOW
  #unread: Buffer[] = []
  #owed = 0
  #ended = false
  #wanted = false
  #waiting: { chunk: Buffer; done: Done } | undefined

  constructor(send: Send) {
    super({ allowHalfOpen: true })
    this.#send = send
  }

  /** From the relay. */
  receive(type: number, payload: Buffer): void {
    if (type === RelayFrameType.data) {
      this.#unread.push(payload)
      this.#pass()
    } else if (type === RelayFrameType.end) {
      this.#ended = true
      this.#pass()
    } else if (type === RelayFrameType.credit) {
      this.#credit += payload.readUInt32LE(0)
      this.#write()
    } else if (type === RelayFrameType.close) this.#lose()
  }

  /** The other end is gone: what it has sent can still be read. */
  #lose(): void {
    this.#ended = true
    this.#pass()
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.done(new Error('the connection was closed from inside the sandbox'))
  }

  override _read(): void {
    this.#wanted = true
    this.#pass()
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.#waiting = { chunk, done }
    this.#write()
  }

  override _final(done: Done): void {
    this.#send(RelayFrameType.end)
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#send(RelayFrameType.close)
    this.#waiting?.done(error ?? new Error('the connection was closed'))
    this.#waiting = undefined
    done(error)
  }

  #pass(): void {
    while (this.#wanted) {
      const bytes = this.#unread.shift()
      if (!bytes) {
        if (this.#ended) this.push(null)
        break
      }
      this.#wanted = this.push(bytes)
      this.#taken(bytes.length)
    }
  }

  #taken(bytes: number): void {
    this.#owed += bytes
    if (this.#owed < RELAY_WINDOW / 4) return
    this.#send(RelayFrameType.credit, relayNumber(this.#owed))
    this.#owed = 0
  }

  #write(): void {
    const waiting = this.#waiting
    if (!waiting) return
    const { chunk, done } = waiting
    let at = 0
    while (at < chunk.length && this.#credit > 0) {
      const size = Math.min(chunk.length - at, this.#credit, RELAY_DATA_MAX)
      this.#credit -= size
      this.#send(RelayFrameType.data, chunk.subarray(at, at + size))
      at += size
    }
    this.#waiting = at < chunk.length ? { chunk: chunk.subarray(at), done } : undefined
    if (!this.#waiting) done()
  }
}
