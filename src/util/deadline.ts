import { linkedController } from './linked-controller.ts'

/** A signal that is aborted after so long, unless it is disposed before. */
export function deadline(
  parent: AbortSignal,
  ms: number | undefined,
  what: string,
): { readonly signal: AbortSignal } & Disposable {
  const controller = linkedController(parent)
  const end = () => controller.abort(new Error(`${what} took longer than ${ms} ms`))
  const timer = ms === undefined ? undefined : setTimeout(end, ms)
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      controller[Symbol.dispose]()
    },
  }
}
