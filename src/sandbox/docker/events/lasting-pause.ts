import type { ContainerWatch } from './container-watch.ts'

/** A snapshot (`docker commit`) pauses a container for a moment: that is no failure. */
const PASSING_MS = 1000

/** Calls back when the container has been paused for longer than a moment. */
export function onLastingPause(watch: ContainerWatch, told: () => void): void {
  let timer: NodeJS.Timeout | undefined
  watch.onPause((paused) => {
    clearTimeout(timer)
    if (paused) timer = setTimeout(told, PASSING_MS)
  })
}

/** Whether it is paused, for longer than a moment. */
export async function isPaused(watch: ContainerWatch): Promise<boolean> {
  if (!watch.paused) return false
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer)
      off()
      resolve(watch.paused)
    }
    const timer = setTimeout(settle, PASSING_MS)
    const off = watch.onPause(settle)
  })
}

/** Resolves when a paused container goes on, or is gone. */
export function resumed(watch: ContainerWatch): Promise<void> {
  if (!watch.paused) return Promise.resolve()
  return new Promise((resolve) => {
    const off = watch.onPause(() => {
      off()
      resolve()
    })
    void watch.diedAfter(watch.deaths).then(() => {
      off()
      resolve()
    })
  })
}
