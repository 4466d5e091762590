import type { Duplex } from 'node:stream'

/**
 * The hijacked streams that this process holds open, by container. A stream that nobody reads makes its container
 * unremovable, so removal destroys these first.
 */
export class StreamRegistry {
  readonly #streams = new Map<string, Set<Duplex>>()
  readonly #retired = new Set<string>()

  add(containerId: string, stream: Duplex): void {
    const open = this.#streams.get(containerId) ?? new Set()
    this.#streams.set(containerId, open.add(stream))
    stream.once('close', () => {
      open.delete(stream)
      if (open.size === 0 && this.#streams.get(containerId) === open) this.#streams.delete(containerId)
    })
  }

  destroy(containerId: string): void {
    for (const stream of this.#streams.get(containerId) ?? []) stream.destroy()
  }

  /** To be called before the container is removed: what fails in it from now on fails because it goes. */
  retire(containerId: string): void {
    this.#retired.add(containerId)
    this.destroy(containerId)
  }

  isRetired(containerId: string): boolean {
    return this.#retired.has(containerId)
  }

  destroyAll(): void {
    for (const containerId of this.#streams.keys()) this.destroy(containerId)
  }
}
