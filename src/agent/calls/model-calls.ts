import { errorMessage, ModelError } from '../../errors.ts'
import { ConnectionLimiter } from '../../limit/connection-limiter.ts'
import type { WorkClock } from '../../limit/work-clock.ts'
import { type Sleep, sleep, untilAborted } from '../../util/abort.ts'
import { steadyNow } from '../../util/clock.ts'
import { linkedController } from '../../util/linked-controller.ts'
import type { GenerateConfig, Model, ModelOutput, ModelRequest } from '../model.ts'
import type { ModelRetryEvent } from '../transcript.ts'
import type { ResponseCache } from './response-cache.ts'
import { pauseAfter, transientFacts } from './retry.ts'

const DEFAULT_ATTEMPT_TIMEOUT_MS = 30 * 60_000

export interface ModelCallsOptions {
  /** Calls of each model at once; left out: adapts. */
  readonly maxConnections?: number
  readonly cache?: ResponseCache
  readonly sleep?: Sleep
  /** A clock that never jumps, on which the callers' clocks go too. */
  readonly now?: () => number
  /** From 0 up to 1: what pauses are shortened by. */
  readonly random?: () => number
}

/** Who calls. */
export interface Caller {
  readonly epoch: number
  /** Groups take turns when calls wait. */
  readonly group?: string
  readonly clock: Pick<WorkClock, 'whileWaiting' | 'waitedSince'>
  /** Before each attempt, once nothing is left to wait for: throws when the call may not be made any more. */
  readonly check: () => void
  readonly onRetry: (event: Omit<ModelRetryEvent, 'type' | 'model' | 'role'>) => void
}

/** How models are called in a run: from the cache, else within the connection limit of the model, again after errors that may pass. */
export class ModelCalls {
  readonly #options: ModelCallsOptions
  readonly #limiters = new Map<string, ConnectionLimiter>()

  constructor(options: ModelCallsOptions = {}) {
    this.#options = options
  }

  /** Limiters by connection key of the models that were called. */
  get connections(): ReadonlyMap<string, ConnectionLimiter> {
    return this.#limiters
  }

  /** @throws what the model throws, the signal's reason, what `check` throws */
  async call(model: Model, request: ModelRequest, caller: Caller): Promise<ModelOutput> {
    const cache = request.config?.cache === false ? undefined : this.#options.cache
    const key = cache?.keyOf(model, request, caller.epoch)
    const known = key === undefined ? undefined : await cache?.read(key)
    if (known) return { ...known, cache: 'read' }
    const output = await this.#attempts(model, request, caller)
    if (!cache || key === undefined) return output
    await cache.write(key, output)
    return { ...output, cache: 'write' }
  }

  connectionsOf({ name, connectionKey = name }: Model): ConnectionLimiter {
    let limiter = this.#limiters.get(connectionKey)
    if (!limiter) {
      limiter = new ConnectionLimiter({ limit: this.#options.maxConnections, now: this.#options.now })
      this.#limiters.set(connectionKey, limiter)
    }
    return limiter
  }

  async #attempts(model: Model, request: ModelRequest, caller: Caller): Promise<ModelOutput> {
    const { sleep: pause = sleep, now = steadyNow } = this.#options
    const { signal, config } = request
    const limiter = this.connectionsOf(model)
    for (let attempt = 1; ; attempt++) {
      const slot = await waiting(caller, limiter, () => limiter.acquire({ signal, group: caller.group }))
      const [startedMs, beginMs] = [Date.now(), now()]
      let pauseMs: number
      try {
        caller.check()
        const output = await attemptOnce(model, request)
        limiter.succeeded()
        const retries = attempt > 1 ? { retries: attempt - 1 } : {}
        return { ...output, durationMs: Math.round(now() - beginMs), ...retries }
      } catch (error) {
        signal?.throwIfAborted()
        pauseMs = this.#failed(limiter, { error, attempt, config })
        caller.clock.waitedSince(beginMs)
        const durationMs = Math.round(now() - beginMs)
        caller.onRetry({ startedMs, durationMs, attempt, pauseMs, error: factsOf(error) })
      } finally {
        slot.release()
      }
      await caller.clock.whileWaiting(() => pause(pauseMs, signal))
    }
  }

  /** The pause before the next attempt. @throws the error when there is none */
  #failed(
    limiter: ConnectionLimiter,
    failed: { error: unknown; attempt: number; config: GenerateConfig | undefined },
  ): number {
    const { random = Math.random } = this.#options
    const facts = transientFacts(failed.error)
    if (facts?.kind === 'rate-limit') limiter.refused(facts.retryAfterMs)
    const pauseMs = pauseAfter({ ...failed, random })
    if (pauseMs === undefined) throw failed.error
    return pauseMs
  }
}

/** Where a slot is free, nothing is waited for. */
function waiting<T>(
  { clock }: Caller,
  { held, limit }: ConnectionLimiter,
  wait: () => Promise<T>,
): Promise<T> {
  return held < limit ? wait() : clock.whileWaiting(wait)
}

/** A model that heeds no signal is left to itself. */
async function attemptOnce(model: Model, request: ModelRequest): Promise<ModelOutput> {
  const { name } = model
  const timeoutMs = request.config?.attemptTimeoutMs ?? DEFAULT_ATTEMPT_TIMEOUT_MS
  using ending = linkedController(request.signal)
  const timer = setTimeout(
    () => ending.abort(new ModelError(`no answer within ${timeoutMs} ms`, { kind: 'timeout', model: name })),
    timeoutMs,
  )
  try {
    return await untilAborted(model.generate({ ...request, signal: ending.signal }), ending.signal)
  } catch (error) {
    ending.signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function factsOf(error: unknown): ModelRetryEvent['error'] {
  const { kind = 'other', status } = transientFacts(error) ?? {}
  return { kind, message: errorMessage(error), ...(status === undefined ? {} : { status }) }
}
