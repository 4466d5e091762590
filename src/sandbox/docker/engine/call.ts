import { CallTurn, callTurns } from './call-turn.ts'
import { deferred } from './deferred.ts'
import { EngineDeadlineError, toEngineError } from './engine-error.ts'

export const CONTROL_DEADLINE_MS = 60_000

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly deadlineMs?: number
}

/**
 * Sends one request to the Engine under a deadline and, where given, the caller's signal. What it waits until it may be
 * sent does not count.
 * @throws EngineError; the signal's reason when it was aborted
 */
export async function call<T>(
  what: string,
  options: CallOptions,
  send: (abortSignal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, deadlineMs = CONTROL_DEADLINE_MS } = options
  signal?.throwIfAborted()
  const controller = new AbortController()
  const over = deferred<never>()
  // Also of a request that cannot be taken back nobody waits for the answer any more.
  const end = (reason: unknown) => {
    over.reject(reason)
    controller.abort()
  }
  const abort = () => end(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  const onLate = () => end(new EngineDeadlineError(what, deadlineMs))
  const turn = new CallTurn({ signal: controller.signal, deadlineMs, onLate })
  try {
    return await Promise.race([callTurns.run(turn, () => send(controller.signal)), over.promise])
  } catch (error) {
    signal?.throwIfAborted()
    throw toEngineError(what, error)
  } finally {
    turn.end()
    signal?.removeEventListener('abort', abort)
  }
}
