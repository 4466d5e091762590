import { setImmediate } from 'node:timers/promises'
import type { Scheduler } from 'fast-check'

/** Lets everything happen that a scheduler holds back, in its order, until nothing is left to happen. */
export async function drain(scheduler: Scheduler): Promise<void> {
  do {
    await scheduler.waitIdle()
    await setImmediate()
  } while (scheduler.count() > 0)
}

/** A point at which the scheduler decides who goes on. */
export const turn = (scheduler: Scheduler, label: string): Promise<void> =>
  scheduler.schedule(Promise.resolve(), label)
