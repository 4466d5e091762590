import { setTimeout as pause } from 'node:timers/promises'
import type Docker from 'dockerode'
import { untilAborted } from '../../../util/abort.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { call } from '../engine/call.ts'
import { deferred } from '../engine/deferred.ts'
import type { EngineEvents } from '../events/engine-events.ts'

export type ContainerInfo = Docker.ContainerInspectInfo

const FIRST_LOOK_MS = 1000
const LONGEST_LOOK_MS = 5000

export interface LookOptions {
  readonly events: EngineEvents
  readonly signal: AbortSignal
  /** By when to give up, on the clock of `performance.now()`. Asked after each look: it may move. */
  readonly until: () => number
}

export function inspectContainer(container: ContainerRef): Promise<ContainerInfo> {
  return call('state of a container', { deadlineMs: 10_000 }, (abortSignal) =>
    container.control.inspect({ abortSignal }),
  )
}

/** Looks at a container whenever events tell of it, and now and then, until `judge` has an answer. undefined: time is up. */
export async function lookUntil<T>(
  container: ContainerRef,
  options: LookOptions,
  judge: (info: ContainerInfo) => T | undefined,
): Promise<T | undefined> {
  const { events, signal, until } = options
  let told = deferred<void>()
  const off = events.on(container.id, () => told.resolve())
  try {
    for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(lookMs * 1.5, LONGEST_LOOK_MS)) {
      told = deferred<void>()
      const answer = judge(await inspectContainer(container))
      signal.throwIfAborted()
      if (answer !== undefined) return answer
      const leftMs = until() - performance.now()
      if (leftMs <= 0) return undefined
      const timer = new AbortController()
      const late = pause(Math.min(lookMs, leftMs), undefined, { signal: timer.signal }).catch(() => undefined)
      await untilAborted(Promise.race([told.promise, late]), signal).finally(() => timer.abort())
    }
  } finally {
    off()
  }
}
