import { Channel, DATA_MAX, FrameType } from './protocol.ts'

/** The bytes themselves, without a copy where they are bytes already. */
export function toBytes(data: string | Uint8Array): Buffer {
  return typeof data === 'string'
    ? Buffer.from(data)
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength)
}

/** Sends data as the guest grants credit for it. */
export class InputSender {
  readonly #send: (type: number, payload: Buffer) => void
  #credit: number
  #stopped = false
  #error: Error | undefined
  #wake: (() => void) | undefined
  #last: Promise<void> = Promise.resolve()

  constructor(window: number, send: (type: number, payload: Buffer) => void) {
    this.#credit = window
    this.#send = send
  }

  /** Resolves when all has been sent; several writes keep their order. Data for a reader that is gone is dropped. */
  write(bytes: Uint8Array): Promise<void> {
    const written = this.#last.then(() => this.#write(bytes))
    this.#last = written.catch(() => undefined)
    return written
  }

  /** Resolves when the end of input has been sent, after all writes. */
  end(): Promise<void> {
    const ended = this.#last.then(() => {
      if (!this.#stopped) this.#send(FrameType.end, Buffer.from([Channel.input]))
    })
    this.#last = ended
    return ended
  }

  grant(bytes: number): void {
    this.#credit += bytes
    this.#wake?.()
  }

  /** Nothing more is taken: the reader is gone, or (with an error) the guest. */
  get stopped(): boolean {
    return this.#stopped
  }

  /** Ends all waiting; with an error where the guest is lost. */
  stop(error?: Error): void {
    this.#stopped = true
    this.#error ??= error
    this.#wake?.()
  }

  async #write(bytes: Uint8Array): Promise<void> {
    let at = 0
    while (at < bytes.length && !this.#stopped) {
      const size = Math.min(bytes.length - at, DATA_MAX, this.#credit)
      if (size <= 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      this.#credit -= size
      this.#send(FrameType.data, Buffer.concat([Buffer.from([Channel.input]), bytes.subarray(at, at + size)]))
      at += size
    }
    if (this.#error) throw this.#error
  }
}

/** Output as it comes. What has been taken by the reader is granted again; a reader that leaves lets the rest pass. */
export class OutputReceiver implements AsyncIterable<Uint8Array> {
  readonly #grant: (bytes: number) => void
  readonly #quantum: number
  #queue: Uint8Array[] = []
  #owed = 0
  #ended = false
  #error: Error | undefined
  #left = false
  #wake: (() => void) | undefined

  constructor(window: number, grant: (bytes: number) => void) {
    this.#grant = grant
    this.#quantum = window / 4
  }

  push(bytes: Uint8Array): void {
    if (this.#left) this.#taken(bytes.length)
    else this.#queue.push(bytes)
    this.#wake?.()
  }

  end(error?: Error): void {
    this.#ended = true
    this.#error = error
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    try {
      for (;;) {
        const bytes = this.#queue.shift()
        if (bytes) {
          this.#taken(bytes.length)
          yield bytes
        } else if (this.#ended) {
          if (this.#error) throw this.#error
          return
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        }
      }
    } finally {
      this.#leave()
    }
  }

  #leave(): void {
    this.#left = true
    for (const bytes of this.#queue) this.#taken(bytes.length)
    this.#queue = []
  }

  #taken(bytes: number): void {
    this.#owed += bytes
    if (this.#ended || this.#owed < this.#quantum) return
    this.#grant(this.#owed)
    this.#owed = 0
  }
}
