import { setMaxListeners } from 'node:events'

/** A controller that aborts with its parent until it is disposed. */
export interface LinkedController extends Disposable {
  readonly signal: AbortSignal
  abort(reason: unknown): void
}

/** `AbortSignal.any` keeps every signal it made alive as long as its parent lives; this does not. */
export function linkedController(parent: AbortSignal | undefined): LinkedController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const follow = () => controller.abort(parent?.reason)
  if (parent?.aborted) follow()
  else parent?.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => parent?.removeEventListener('abort', follow),
  }
}
