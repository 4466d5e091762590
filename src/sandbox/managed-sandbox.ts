import type { CleanupEntry } from './cleanup-registry.ts'
import type { KeptSandbox, RemovalReport, ServiceLog, StartedSandbox, StopOptions } from './provider.ts'
import type { Sandbox } from './sandbox.ts'

export interface ManagedSandboxParts {
  readonly started: StartedSandbox
  readonly entry: CleanupEntry
  /** Whether it is to outlive the run, given whether its sample failed. */
  readonly isKept: (failed: boolean) => boolean
  /** Takes it out of what the run removes. */
  readonly keep: () => Promise<KeptSandbox>
  readonly onRemoved: (kept: KeptSandbox | undefined) => void
}

/** A started sandbox; whoever is to know is told when its containers are really gone, or have been found not to go. */
export class ManagedSandbox implements AsyncDisposable {
  readonly #parts: ManagedSandboxParts
  #failed = false
  #before: (() => Promise<void>) | undefined
  #removal: Promise<RemovalReport> | undefined

  constructor(parts: ManagedSandboxParts) {
    this.#parts = parts
  }

  get default(): Sandbox {
    return this.#parts.started.default
  }

  get services(): ReadonlyMap<string, Sandbox> {
    return this.#parts.started.services
  }

  stopCommands(options?: StopOptions): Promise<readonly (readonly string[])[]> {
    return this.#parts.started.stopCommands(options)
  }

  async leftRunning(): Promise<readonly string[]> {
    return (await this.#parts.started.leftRunning?.()) ?? []
  }

  /** To be called before it is removed when its sample ended with an error. */
  markFailed(): void {
    this.#failed = true
  }

  /** What its services have printed. */
  async serviceLogs(): Promise<readonly ServiceLog[]> {
    return (await this.#parts.started.serviceLogs?.()) ?? []
  }

  /** What is to be done before it is removed; should that fail, it is removed all the same. */
  beforeRemoval(work: () => Promise<void>): void {
    this.#before = work
  }

  /** Removes it, unless it is one to be kept. Idempotent; never throws: what would not go is in the report, and in the manager's list. */
  remove(): Promise<RemovalReport> {
    this.#removal ??= this.#remove()
    return this.#removal
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }

  async #remove(): Promise<RemovalReport> {
    const { started, entry, onRemoved } = this.#parts
    await this.#before?.().catch(() => undefined)
    const kept = await this.#keep()
    try {
      if (kept) return NOTHING_LEFT
      const report = await started.remove().catch(() => undefined)
      if (report && report.left.length === 0) {
        entry.done()
        return report
      }
      return await entry.remove()
    } finally {
      onRemoved(kept)
    }
  }

  /** A sandbox that cannot be kept, such as one that is dead, is removed. */
  async #keep(): Promise<KeptSandbox | undefined> {
    const { isKept, started, keep, entry } = this.#parts
    if (!isKept(this.#failed)) return undefined
    try {
      await started.keep?.()
      const kept = await keep()
      entry.done()
      return kept
    } catch {
      return undefined
    }
  }
}

const NOTHING_LEFT: RemovalReport = { removed: 0, left: [] }
