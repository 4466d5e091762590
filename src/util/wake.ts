/** Lets code sleep until something has changed. A `set` that nobody waits for is remembered for the next wait. */
export class Wake {
  readonly #waiting = new Set<() => void>()
  #isSet = false

  set(): void {
    this.#isSet = this.#waiting.size === 0
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wakeUp of waiting) wakeUp()
  }

  /** Rejects with the signal's reason when that comes first. */
  async wait(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (this.#isSet) {
      this.#isSet = false
      return
    }
    await new Promise<void>((resolve, reject) => {
      const wakeUp = () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      const stop = () => {
        this.#waiting.delete(wakeUp)
        reject(signal?.reason)
      }
      this.#waiting.add(wakeUp)
      signal?.addEventListener('abort', stop, { once: true })
    })
  }
}
