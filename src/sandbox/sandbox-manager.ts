import { setMaxListeners } from 'node:events'
import { availableParallelism } from 'node:os'
import { BelljarError } from '../errors.ts'
import { type AcquireOptions, checkedLimit, Limiter, type Slot } from '../limit/limiter.ts'
import type { SandboxIdentity } from '../sample/identity.ts'
import { type Sleep, sleep, soonAfterAbort, untilAborted } from '../util/abort.ts'
import { linkedController } from '../util/linked-controller.ts'
import { attempt, type CleanupEntry, CleanupRegistry } from './cleanup-registry.ts'
import { ConfigInitialiser, type InitialisedConfig } from './config-initialiser.ts'
import { ConfigUses } from './config-uses.ts'
import { ManagedSandbox, type ManagedSandboxParts } from './managed-sandbox.ts'
import type {
  Keep,
  KeptSandbox,
  LeftObject,
  ProviderContext,
  ResolvedConfig,
  SandboxProvider,
} from './provider.ts'

export interface SandboxManagerOptions {
  readonly run: string
  /** Slots per kind of sandbox; default: twice the processors. */
  readonly maxSandboxes?: number
  /** Configurations initialised at once (default 4). */
  readonly maxInitialisations?: number
  /** Which sandboxes are not removed (default `none`). */
  readonly keep?: Keep | undefined
  /** What was made ready for a configuration is cleaned up after its last use, not when the run ends (default false). */
  readonly cleanEarly?: boolean | undefined
  readonly sleep?: Sleep
}

export interface StartOptions extends ProviderContext, AcquireOptions {
  /** Told when the slot has been taken and the start begins. */
  readonly onSlot?: () => void
  /** Told when nothing is left of a start that took a slot and failed. */
  readonly onGone?: () => void
}

/** How long a run that was told to stop goes on removing by itself. */
const STOP_MS = 4000

/** The one door to sandboxes: initialises configurations once, starts and removes sandboxes, and limits how many there are. */
export class SandboxManager {
  readonly #run: string
  readonly #limiters = new Map<string, Limiter>()
  readonly #used = new Map<string, SandboxProvider>()
  readonly #initialiser: ConfigInitialiser
  readonly #cleanup = new CleanupRegistry()
  readonly #starting = new Set<Promise<ManagedSandbox>>()
  readonly #up = new Set<ManagedSandbox>()
  readonly #keep: Keep
  readonly #kept: KeptSandbox[] = []
  readonly #stopping = new AbortController()
  readonly #uses: ConfigUses | undefined
  readonly #sleep: Sleep
  #maxSandboxes: number
  #isAbandoned = false
  #closing: Promise<readonly LeftObject[]> | undefined

  constructor(options: SandboxManagerOptions) {
    this.#run = options.run
    this.#keep = options.keep ?? 'none'
    this.#uses = options.cleanEarly ? new ConfigUses() : undefined
    this.#maxSandboxes = checkedLimit(options.maxSandboxes ?? defaultMaxSandboxes())
    this.#sleep = options.sleep ?? sleep
    this.#initialiser = new ConfigInitialiser(options.maxInitialisations ?? 4, this.#sleep)
    setMaxListeners(Number.POSITIVE_INFINITY, this.#stopping.signal)
  }

  get maxSandboxes(): number {
    return this.#maxSandboxes
  }

  /** Takes effect at once, also before any configuration has been seen. */
  set maxSandboxes(limit: number) {
    this.#maxSandboxes = checkedLimit(limit)
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

  /** Says that a configuration will be used, until what is returned is called. */
  retain(provider: SandboxProvider, config: ResolvedConfig): () => void {
    return this.#uses?.retain(provider, config) ?? (() => undefined)
  }

  /**
   * Waits for a slot, then starts. When the start fails, everything of it is removed before the slot is given back. The signal ends the
   * caller's wait at once; what was under way is removed beside.
   */
  async start(
    provider: SandboxProvider,
    config: ResolvedConfig,
    start: StartOptions & { identity: SandboxIdentity },
  ): Promise<ManagedSandbox> {
    this.#used.set(provider.kind, provider)
    const slot = await this.#limiter(provider.kind).acquire({ group: start.group, signal: start.signal })
    const starting = this.#startHolding(slot, { provider, config, start })
    this.#starting.add(starting)
    const settled = () => void this.#starting.delete(starting)
    starting.then(settled, settled)
    try {
      return await untilAborted(starting, start.signal)
    } catch (error) {
      // It may have come up in the same moment.
      void starting.then(
        (sandbox) => sandbox.remove(),
        () => undefined,
      )
      throw error
    }
  }

  async #startHolding(slot: Slot, request: StartRequest): Promise<ManagedSandbox> {
    const { provider, config, start } = request
    using ending = linkedController(start.signal, this.#stopping.signal)
    const { signal } = ending
    const release = this.retain(provider, config)
    let entry: CleanupEntry | undefined
    let hasBegun = false
    try {
      signal.throwIfAborted()
      start.onSlot?.()
      hasBegun = true
      entry = this.#cleanup.register(provider, start.identity)
      const { report, onServiceLogs } = start
      const started = await provider.sampleInit(config, start.identity, { signal, report, onServiceLogs })
      signal.throwIfAborted()
      const keep = () => keepIn(provider, start.identity)
      const over = () => {
        slot.release()
        release()
      }
      return this.#managed({ started, entry, keep }, over)
    } catch (error) {
      await entry?.remove()
      slot.release()
      release()
      if (hasBegun) start.onGone?.()
      throw error
    }
  }

  #managed(parts: Pick<ManagedSandboxParts, 'started' | 'entry' | 'keep'>, over: () => void): ManagedSandbox {
    const sandbox = new ManagedSandbox({
      ...parts,
      isKept: (failed) => this.#keep === 'all' || (failed && this.#keep === 'failed'),
      onRemoved: (kept) => {
        if (kept) this.#kept.push(kept)
        this.#up.delete(sandbox)
        over()
      },
    })
    this.#up.add(sandbox)
    return sandbox
  }

  /**
   * Stops what is being initialised or started, removes every sandbox and whatever else carries the run's label, and returns what would not go.
   * Some seconds after `stop` was aborted it returns what is left by then, which whatever outlives the run goes on to remove.
   */
  async shutdown(stop?: AbortSignal): Promise<readonly LeftObject[]> {
    if (this.#isAbandoned) return this.#unfinished()
    this.#closing ??= this.#shutdown()
    try {
      return await soonAfterAbort(this.#closing, { signal: stop, graceMs: STOP_MS, sleep: this.#sleep })
    } catch (error) {
      if (!stop?.aborted) throw error
      this.#isAbandoned = true
      for (const provider of this.#used.values()) provider.abandon?.()
      return this.#unfinished()
    }
  }

  #unfinished(): readonly LeftObject[] {
    const { pending } = this.#cleanup
    return pending.length > 0 ? pending : [unfinished(this.#run)]
  }

  /** Sandboxes that were not removed on purpose. */
  get kept(): readonly KeptSandbox[] {
    return this.#kept
  }

  /** What would not go so far. */
  get left(): readonly LeftObject[] {
    return this.#cleanup.left
  }

  /** What a run that is broken off now would leave. */
  get pending(): readonly LeftObject[] {
    return this.#cleanup.pending
  }

  async #shutdown(): Promise<readonly LeftObject[]> {
    this.#stopping.abort(new Error('the run has ended'))
    await Promise.all([this.#initialiser.stop(), Promise.allSettled(this.#starting)])
    await Promise.all([...this.#up].map((sandbox) => sandbox.remove()))
    await this.#cleanup.removeAll()
    const providers = [...this.#used.values()]
    const reports = await Promise.all(providers.map((provider) => attempt(provider, { run: this.#run })))
    const left = reports.flatMap((report) => report.left)
    this.#cleanup.settle({ removed: 0, left })
    await this.#uses?.settle()
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

function unfinished(run: string): LeftObject {
  const name = `whatever is labelled belljar.run=${run}`
  return {
    kind: 'container',
    name,
    reason: 'its removal has not ended',
    command: `belljar sandbox cleanup ${run}`,
  }
}

interface StartRequest {
  readonly provider: SandboxProvider
  readonly config: ResolvedConfig
  readonly start: StartOptions & { identity: SandboxIdentity }
}

async function keepIn(provider: SandboxProvider, identity: SandboxIdentity): Promise<KeptSandbox> {
  if (!provider.keep) throw new BelljarError('keep', `sandboxes of kind '${provider.kind}' cannot be kept`)
  return provider.keep(identity)
}

export function defaultMaxSandboxes(): number {
  return 2 * availableParallelism()
}
