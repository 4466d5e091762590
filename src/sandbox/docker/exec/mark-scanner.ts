/** A word of the wrapper to the host inside a stream of output: the secret prefix, a letter, a number, `;`. */
export interface Mark {
  readonly letter: string
  readonly value: number
}

const LONGEST_TAIL = 16

/**
 * Takes the wrapper's marks out of a stream and passes the rest on at once. Held back is only what may be the
 * beginning of a mark.
 */
export class MarkScanner {
  readonly #prefix: Buffer
  readonly #onData: (data: Buffer) => void
  readonly #onMark: (mark: Mark) => void
  #held: Buffer = Buffer.alloc(0)

  constructor(prefix: string, onData: (data: Buffer) => void, onMark: (mark: Mark) => void) {
    this.#prefix = Buffer.from(prefix)
    this.#onData = onData
    this.#onMark = onMark
  }

  push(chunk: Buffer): void {
    let rest = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    this.#held = Buffer.alloc(0)
    for (;;) {
      const at = rest.indexOf(this.#prefix)
      if (at < 0) {
        const kept = this.#partialPrefix(rest)
        this.#emit(rest.subarray(0, rest.length - kept))
        this.#held = Buffer.from(rest.subarray(rest.length - kept))
        return
      }
      this.#emit(rest.subarray(0, at))
      const body = rest.subarray(at + this.#prefix.length)
      const end = body.indexOf(';')
      if (end < 0 && body.length < LONGEST_TAIL) {
        this.#held = Buffer.from(rest.subarray(at))
        return
      }
      rest = this.#take(body, end)
    }
  }

  /** What was held back is output after all. */
  finish(): void {
    this.#emit(this.#held)
    this.#held = Buffer.alloc(0)
  }

  #take(body: Buffer, end: number): Buffer {
    const parsed = /^([a-z])(\d*)$/.exec(body.subarray(0, Math.max(end, 0)).toString('latin1'))
    if (!parsed) {
      this.#emit(this.#prefix)
      return body
    }
    this.#onMark({ letter: parsed[1] ?? '', value: Number(parsed[2]) })
    return body.subarray(end + 1)
  }

  #emit(data: Buffer): void {
    if (data.length > 0) this.#onData(data)
  }

  #partialPrefix(data: Buffer): number {
    const longest = Math.min(this.#prefix.length - 1, data.length)
    for (let length = longest; length > 0; length -= 1) {
      if (data.subarray(data.length - length).equals(this.#prefix.subarray(0, length))) return length
    }
    return 0
  }
}
