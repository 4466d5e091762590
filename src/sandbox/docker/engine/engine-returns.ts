import { sleep } from '../../../util/abort.ts'
import { call } from './call.ts'
import type { EngineClients } from './clients.ts'
import { EngineError, isConnectionError } from './engine-error.ts'

/** A daemon that is restarted is gone for some seconds; a busy machine takes longer. */
const PATIENCE_MS = 120_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 3000
const ANSWER_MS = 10_000
const CAUSES = 5

/** Whether something failed because the engine could not be reached, or its answer did not come. */
export function isOutage(error: unknown): boolean {
  let current = error
  for (let depth = 0; depth < CAUSES && current !== undefined; depth += 1) {
    if (current instanceof EngineError) return isConnectionError(current)
    current = current instanceof Error ? current.cause : undefined
  }
  return false
}

/** Waits until the engine answers, or does not for so long that it is not worth waiting any more. Never throws. */
export async function engineReturns(
  { control }: Pick<EngineClients, 'control'>,
  { signal, patienceMs = PATIENCE_MS }: { signal?: AbortSignal | undefined; patienceMs?: number } = {},
): Promise<void> {
  const end = performance.now() + patienceMs
  for (let pauseMs = FIRST_PAUSE_MS; !signal?.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      await call('ping', { signal, deadlineMs: ANSWER_MS }, () => control.ping())
      return
    } catch {
      if (performance.now() + pauseMs >= end) return
      await sleep(pauseMs, signal).catch(() => undefined)
    }
  }
}
