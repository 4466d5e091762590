import type { ObjectKind } from './messages.ts'

export interface ReapedObject {
  readonly kind: ObjectKind
  readonly id: string
  readonly name: string
  /** The sandbox that it belongs to; what has none is the run's. */
  readonly project: string | undefined
}

export interface EngineCalls {
  /** All that carries the run's label. Rejects when the engine does not answer. */
  list(): Promise<readonly ReapedObject[]>
  /** Rejects when the object is still there. */
  remove(object: ReapedObject): Promise<void>
}

export interface ReapPlan {
  readonly kept: ReadonlySet<string>
  /** Names of creates that had no answer. */
  readonly inFlight: readonly string[]
}

export interface ReapClock {
  now(): number
  sleep(ms: number): Promise<void>
}

const BETWEEN_LISTS_MS = 500
const LONGEST_PAUSE_MS = 10_000
/** How long after the death of its client a create may take effect. */
const SETTLE_MS = 30_000
const GIVE_UP_MS = 15 * 60_000
const KINDS = ['container', 'network', 'volume'] as const

/** Removes what a dead run has on one engine until two lists in a row are empty. Resolves to whether they were. */
export async function reap(calls: EngineCalls, plan: ReapPlan, clock: ReapClock): Promise<boolean> {
  const startMs = clock.now()
  const awaited = new Set(plan.inFlight)
  let [empty, pauseMs] = [0, BETWEEN_LISTS_MS]
  while (clock.now() - startMs < GIVE_UP_MS) {
    const found = await calls.list().then(
      (objects) => objects.filter((object) => mayGo(object, plan.kept)),
      () => undefined,
    )
    for (const { name } of found ?? []) awaited.delete(name)
    const allGone = found !== undefined && (await removeAll(calls, found))
    empty = found?.length === 0 ? empty + 1 : 0
    const settled = awaited.size === 0 || clock.now() - startMs >= SETTLE_MS
    if (empty >= 2 && settled) return true
    pauseMs = allGone ? BETWEEN_LISTS_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    await clock.sleep(pauseMs)
  }
  return false
}

/** A kept sandbox stays, and so do the volumes and networks of the run that it may use. */
function mayGo({ kind, project }: ReapedObject, kept: ReadonlySet<string>): boolean {
  if (project !== undefined) return !kept.has(project)
  return kept.size === 0 || kind === 'container'
}

/** Containers before what they use. */
async function removeAll(calls: EngineCalls, objects: readonly ReapedObject[]): Promise<boolean> {
  let allGone = true
  for (const kind of KINDS) {
    const some = objects.filter((object) => object.kind === kind)
    const results = await Promise.allSettled(some.map((object) => calls.remove(object)))
    allGone &&= results.every(({ status }) => status === 'fulfilled')
  }
  return allGone
}
