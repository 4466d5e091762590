import { availableParallelism } from 'node:os'
import { type AcquireOptions, Limiter, type Slot } from '../limit/limiter.ts'
import type { SandboxIdentity } from '../sample/identity.ts'
import { type Sleep, sleep } from '../util/abort.ts'
import { attempt, CleanupRegistry } from './cleanup-registry.ts'
import { ConfigInitialiser, type InitialisedConfig } from './config-initialiser.ts'
import { ManagedSandbox } from './managed-sandbox.ts'
import type { LeftObject, ProviderContext, ResolvedConfig, SandboxProvider } from './provider.ts'

export interface SandboxManagerOptions {
  readonly run: string
  /** Slots per kind of sandbox; default: twice the processors. */
  readonly maxSandboxes?: number
  /** Configurations initialised at once (default 4). */
  readonly maxInitialisations?: number
  readonly sleep?: Sleep
}

export interface StartOptions extends ProviderContext, AcquireOptions {
  /** Told when the slot has been taken and the start begins. */
  readonly onSlot?: () => void
}

/** The one door to sandboxes: initialises configurations once, starts and removes sandboxes, and limits how many there are. */
export class SandboxManager {
  readonly #run: string
  readonly #limiters = new Map<string, Limiter>()
  readonly #used = new Map<string, SandboxProvider>()
  readonly #initialiser: ConfigInitialiser
  readonly #cleanup = new CleanupRegistry()
  #maxSandboxes: number
  #closing: Promise<readonly LeftObject[]> | undefined

  constructor(options: SandboxManagerOptions) {
    this.#run = options.run
    this.#maxSandboxes = options.maxSandboxes ?? defaultMaxSandboxes()
    this.#initialiser = new ConfigInitialiser(options.maxInitialisations ?? 4, options.sleep ?? sleep)
  }

  get maxSandboxes(): number {
    return this.#maxSandboxes
  }

  /** Takes effect at once, also before any configuration has been seen. */
  set maxSandboxes(limit: number) {
    this.#maxSandboxes = limit
    for (const limiter of this.#limiters.values()) limiter.limit = limit
  }

  /** Sandboxes that hold a slot now, of all kinds. */
  get held(): number {
    return [...this.#limiters.values()].reduce((sum, limiter) => sum + limiter.held, 0)
  }

  /**
   * Makes a configuration ready: once per key, whoever asks and however often. What failed stays failed, with its first error.
   * The signal ends this caller's wait; the work goes on for others.
   */
  initialise(
    provider: SandboxProvider,
    config: ResolvedConfig,
    context: ProviderContext = {},
  ): Promise<InitialisedConfig> {
    this.#used.set(provider.kind, provider)
    return this.#initialiser.initialise(provider, config, context)
  }

  /** Waits for a slot, then starts. When the start fails, everything of it is removed before the slot is given back. */
  async start(
    provider: SandboxProvider,
    config: ResolvedConfig,
    start: StartOptions & { identity: SandboxIdentity },
  ): Promise<ManagedSandbox> {
    this.#used.set(provider.kind, provider)
    const slot = await this.#limiter(provider.kind).acquire({ group: start.group, signal: start.signal })
    if (this.#closing !== undefined) {
      slot.release()
      throw new Error('the run has ended')
    }
    start.onSlot?.()
    return this.#startHolding(slot, { provider, config, start })
  }

  async #startHolding(slot: Slot, request: StartRequest): Promise<ManagedSandbox> {
    const { provider, config, start } = request
    const entry = this.#cleanup.register(provider, start.identity)
    try {
      start.signal?.throwIfAborted()
      const started = await provider.sampleInit(config, start.identity, start)
      return new ManagedSandbox({ started, entry, slot })
    } catch (error) {
      await entry.remove()
      slot.release()
      throw error
    }
  }

  /** Stops what is being initialised, removes every sandbox and whatever else carries the run's label, and returns what would not go. */
  shutdown(): Promise<readonly LeftObject[]> {
    this.#closing ??= this.#shutdown()
    return this.#closing
  }

  /** What a run that is broken off now would leave. */
  get left(): readonly LeftObject[] {
    return this.#cleanup.left
  }

  async #shutdown(): Promise<readonly LeftObject[]> {
    await this.#initialiser.stop()
    await this.#cleanup.removeAll()
    const providers = [...this.#used.values()]
    const reports = await Promise.all(providers.map((provider) => attempt(provider, { run: this.#run })))
    const left = reports.flatMap((report) => report.left)
    this.#cleanup.settle({ removed: 0, left })
    await this.#initialiser.cleanup()
    return left
  }

  #limiter(kind: string): Limiter {
    let limiter = this.#limiters.get(kind)
    if (!limiter) {
      limiter = new Limiter(this.#maxSandboxes)
      this.#limiters.set(kind, limiter)
    }
    return limiter
  }
}

interface StartRequest {
  readonly provider: SandboxProvider
  readonly config: ResolvedConfig
  readonly start: StartOptions & { identity: SandboxIdentity }
}

export function defaultMaxSandboxes(): number {
  return 2 * availableParallelism()
}
