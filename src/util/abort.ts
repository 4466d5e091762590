/** Waits for `work`, but not beyond the abort of `signal`, which rejects with the signal's reason. `work` itself goes on. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  try {
    // The race also takes care of a rejection of work that nobody waits for any more.
    return await Promise.race([aborted, work])
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
  }
}

/** As `untilAborted`, but after the abort `work` has some time to end by itself. */
export async function soonAfterAbort<T>(
  work: Promise<T>,
  options: { signal: AbortSignal | undefined; graceMs: number; sleep?: Sleep },
): Promise<T> {
  const { signal, graceMs, sleep: pause = sleep } = options
  if (signal === undefined) return work
  const over = new AbortController()
  const late = async (): Promise<never> => {
    await aborted(signal, over.signal)
    await pause(graceMs, over.signal)
    throw signal.reason
  }
  try {
    return await Promise.race([late(), work])
  } finally {
    over.abort()
  }
}

/** Resolves with the abort of `signal`; never once `over` was aborted. */
function aborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: over })
  })
}

/** A pause that the signal ends early, rejecting with its reason. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

export const sleep: Sleep = async (ms, signal) => {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
