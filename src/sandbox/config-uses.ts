import type { ResolvedConfig, SandboxProvider } from './provider.ts'

/** Who still means to use a configuration, or uses it. When the last one lets go, what was made ready for it is cleaned up. */
export class ConfigUses {
  readonly #counts = new Map<string, number>()
  readonly #cleanups = new Set<Promise<void>>()

  /** What is returned lets go; calling it again does nothing. */
  retain(provider: SandboxProvider, config: ResolvedConfig): () => void {
    const key = `${config.kind} ${config.key}`
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    let held = true
    return () => {
      if (!held) return
      held = false
      const count = (this.#counts.get(key) ?? 0) - 1
      this.#counts.set(key, count)
      if (count > 0) return
      this.#counts.delete(key)
      const cleanup = provider.taskCleanup(config).catch(() => undefined)
      this.#cleanups.add(cleanup)
      void cleanup.then(() => this.#cleanups.delete(cleanup))
    }
  }

  /** Resolves when no cleanup is under way. */
  async settle(): Promise<void> {
    await Promise.all(this.#cleanups)
  }
}
