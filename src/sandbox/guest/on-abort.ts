import { setMaxListeners } from 'node:events'

/** Calls back when the signal is aborted, until disposed. One signal may serve any number of requests at once. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): Disposable {
  if (!signal) return { [Symbol.dispose]: () => undefined }
  setMaxListeners(Number.POSITIVE_INFINITY, signal) // else Node takes many commands of one sample for a leak
  signal.addEventListener('abort', callback, { once: true })
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', callback) }
}
