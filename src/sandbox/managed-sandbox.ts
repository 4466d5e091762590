import type { CleanupEntry } from './cleanup-registry.ts'
import type { RemovalReport, StartedSandbox } from './provider.ts'
import type { Sandbox } from './sandbox.ts'

/** A started sandbox; whoever is to know is told when its containers are really gone, or have been found not to go. */
export class ManagedSandbox implements AsyncDisposable {
  readonly #started: StartedSandbox
  readonly #entry: CleanupEntry
  readonly #onRemoved: () => void
  #removal: Promise<RemovalReport> | undefined

  constructor(parts: { started: StartedSandbox; entry: CleanupEntry; onRemoved: () => void }) {
    this.#started = parts.started
    this.#entry = parts.entry
    this.#onRemoved = parts.onRemoved
  }

  get default(): Sandbox {
    return this.#started.default
  }

  get services(): ReadonlyMap<string, Sandbox> {
    return this.#started.services
  }

  stopCommands(): Promise<readonly (readonly string[])[]> {
    return this.#started.stopCommands()
  }

  /** Idempotent; never throws: what would not go is in the report, and in the manager's list. */
  remove(): Promise<RemovalReport> {
    this.#removal ??= this.#remove()
    return this.#removal
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }

  async #remove(): Promise<RemovalReport> {
    try {
      const report = await this.#started.remove().catch(() => undefined)
      if (report && report.left.length === 0) {
        this.#entry.done()
        return report
      }
      return await this.#entry.remove()
    } finally {
      this.#onRemoved()
    }
  }
}
