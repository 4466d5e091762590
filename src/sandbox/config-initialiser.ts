import { SandboxInitError } from '../errors.ts'
import { Limiter } from '../limit/limiter.ts'
import { type Sleep, untilAborted } from '../util/abort.ts'
import { stopwatch } from '../util/clock.ts'
import type { ConfigFacts, ProviderContext, ResolvedConfig, SandboxProvider } from './provider.ts'

export interface InitialisedConfig {
  readonly config: ResolvedConfig
  readonly facts: ConfigFacts
  readonly durationMs: number
}

const ATTEMPTS = 4
const FIRST_PAUSE_MS = 500

/** Initialises each configuration once per key: single-flight, different keys in parallel, what may pass tried again. */
export class ConfigInitialiser {
  readonly #byKey = new Map<string, Promise<InitialisedConfig>>()
  readonly #done: { provider: SandboxProvider; config: ResolvedConfig }[] = []
  readonly #limiter: Limiter
  readonly #sleep: Sleep
  readonly #stopping = new AbortController()

  constructor(maxAtOnce: number, sleep: Sleep) {
    this.#limiter = new Limiter(maxAtOnce)
    this.#sleep = sleep
  }

  initialise(
    provider: SandboxProvider,
    config: ResolvedConfig,
    context: ProviderContext,
  ): Promise<InitialisedConfig> {
    const key = `${config.kind} ${config.key}`
    let work = this.#byKey.get(key)
    if (!work) {
      work = this.#start(provider, config, context.report)
      work.catch(() => undefined)
      this.#byKey.set(key, work)
    }
    return untilAborted(work, context.signal)
  }

  /** Ends what is under way and waits until it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new SandboxInitError('the run has ended'))
    await Promise.allSettled(this.#byKey.values())
  }

  async cleanup(): Promise<void> {
    await Promise.allSettled(this.#done.map(({ provider, config }) => provider.taskCleanup(config)))
  }

  async #start(
    provider: SandboxProvider,
    config: ResolvedConfig,
    report: ProviderContext['report'],
  ): Promise<InitialisedConfig> {
    const { signal } = this.#stopping
    using _slot = await this.#limiter.acquire({ signal })
    const time = stopwatch()
    this.#done.push({ provider, config })
    for (let attempt = 1; ; attempt++) {
      try {
        const facts = await provider.taskInit(config, { signal, report })
        return { config, facts, durationMs: time().durationMs }
      } catch (error) {
        const mayPass = error instanceof SandboxInitError && error.transient && attempt < ATTEMPTS
        if (!mayPass || signal.aborted) throw error
        const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1)
        report?.({
          kind: 'warning',
          message: `${config.description}: ${error.message}; trying again in ${pauseMs} ms`,
        })
        await this.#sleep(pauseMs, signal)
      }
    }
  }
}
