const LARGEST_BACKLOG = 64 * 1024 * 1024

/**
 * Output that waits for its reader. The socket is always drained, so a reader that falls too far behind loses the
 * stream (its iteration throws) instead of stopping the engine.
 */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = []
  #bytes = 0
  #ended = false
  #error: Error | undefined
  #wake: (() => void) | undefined

  write(data: Buffer): void {
    if (this.#error || this.#ended) return
    this.#chunks.push(Buffer.from(data))
    this.#bytes += data.length
    if (this.#bytes > LARGEST_BACKLOG) {
      this.#chunks = []
      this.#error = new Error(`output was not read: over ${LARGEST_BACKLOG} bytes were waiting`)
    }
    this.#wake?.()
  }

  end(error?: Error): void {
    this.#ended = true
    this.#error ??= error
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    for (;;) {
      const chunks = this.#chunks
      this.#chunks = []
      this.#bytes = 0
      yield* chunks
      if (this.#chunks.length > 0) continue
      if (this.#error) throw this.#error
      if (this.#ended) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = undefined
    }
  }
}
