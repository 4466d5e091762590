import { setMaxListeners } from 'node:events'

/** A controller that aborts with the first of its parents to abort, until it is disposed. */
export interface LinkedController extends Disposable {
  readonly signal: AbortSignal
  abort(reason: unknown): void
}

/** `AbortSignal.any` keeps every signal it made alive as long as its parents live; this does not. */
export function linkedController(...parents: readonly (AbortSignal | undefined)[]): LinkedController {
  const controller = new AbortController()
  // Not 0: Node 20's getMaxListeners(), which undici calls, throws for it.
  setMaxListeners(Number.POSITIVE_INFINITY, controller.signal)
  const links = parents.flatMap((parent) => (parent ? [linked(controller, parent)] : []))
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => {
      for (const unlink of links) unlink()
    },
  }
}

function linked(controller: AbortController, parent: AbortSignal): () => void {
  const follow = () => controller.abort(parent.reason)
  if (parent.aborted) follow()
  else {
    setMaxListeners(Number.POSITIVE_INFINITY, parent) // else Node takes many commands of one sample for a leak
    parent.addEventListener('abort', follow, { once: true })
  }
  return () => parent.removeEventListener('abort', follow)
}
