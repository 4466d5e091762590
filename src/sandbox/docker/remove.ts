import { setTimeout as pause } from 'node:timers/promises'
import PQueue from 'p-queue'
import { errorMessage } from '../../errors.ts'
import type { SandboxSelector } from '../../sample/identity.ts'
import type { LeftObject, RemovalReport, RemovedKind } from '../provider.ts'
import { type CallOptions, call } from './engine/call.ts'
import type { Engine } from './engine/engine.ts'
import { EngineError, mayPass, statusOf } from './engine/engine-error.ts'
import { PROJECT_LABEL, selectorFilter } from './identity/labels.ts'

/** Something that removal must make go. */
export interface EngineObject {
  readonly kind: Exclude<RemovedKind, 'image' | 'folder'>
  readonly id: string
  readonly name: string
}

/** For one engine, whoever removes: many more at the same time and each takes longer than it is given. */
const AT_ONCE = 16
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3000
const ATTEMPT_MS = 10_000
/** Twice what one call that hangs may take, and some more tries. */
const BUDGET_MS = 25_000

export interface RemovalOptions {
  /** Ends the attempts; the object counts as left. */
  readonly signal?: AbortSignal | undefined
  /** How long one object is attempted. */
  readonly budgetMs?: number
}

const COMMANDS = {
  container: 'docker rm --force --volumes',
  network: 'docker network rm',
  volume: 'docker volume rm --force',
} as const

async function removeOnce(engine: Engine, { kind, id }: EngineObject, options: CallOptions): Promise<void> {
  const { control } = engine
  if (kind === 'container') {
    engine.openStreams.retire(id)
    await call('removing a container', options, (abortSignal) =>
      control.getContainer(id).remove({ force: true, v: true, abortSignal }),
    )
  } else if (kind === 'network') {
    await call('removing a network', options, (abortSignal) => control.getNetwork(id).remove({ abortSignal }))
  } else {
    await call('removing a volume', options, (abortSignal) =>
      control.getVolume(id).remove({ force: true, abortSignal }),
    )
  }
}

async function isGone(engine: Engine, { kind, id }: EngineObject): Promise<boolean> {
  const { control } = engine
  const look = {
    container: (abortSignal: AbortSignal) => control.getContainer(id).inspect({ abortSignal }),
    network: () => control.getNetwork(id).inspect(),
    volume: (abortSignal: AbortSignal) => control.getVolume(id).inspect({ abortSignal }),
  }[kind]
  try {
    await call(
      `looking for a ${kind}`,
      { deadlineMs: 5000 },
      (abortSignal): Promise<unknown> => look(abortSignal),
    )
    return false
  } catch (error) {
    return statusOf(error) === 404
  }
}

/** Removes one object, again with growing pauses while the engine is busy with it. Resolves to why it is still there, if it is. */
export async function removeObject(
  engine: Engine,
  object: EngineObject,
  { signal, budgetMs = BUDGET_MS }: RemovalOptions = {},
): Promise<LeftObject | undefined> {
  const endMs = performance.now() + budgetMs
  let reason = 'unknown'
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      const leftMs = Math.max(1, endMs - performance.now())
      await removeOnce(engine, object, { signal, deadlineMs: Math.min(ATTEMPT_MS, leftMs) })
      return undefined
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      reason = errorMessage(error)
      if (!signal?.aborted && (await isGone(engine, object))) return undefined
    }
    if (signal?.aborted || performance.now() + pauseMs >= endMs) return leftObject(object, reason)
    await pause(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

export function removalCommand({ kind, name }: Pick<EngineObject, 'kind' | 'name'>): string {
  return `${COMMANDS[kind]} ${name}`
}

function leftObject({ kind, name }: EngineObject, reason: string): LeftObject {
  return { kind, name, reason, command: removalCommand({ kind, name }) }
}

const queues = new WeakMap<Engine, PQueue>()

function queueOf(engine: Engine): PQueue {
  const queue = queues.get(engine) ?? new PQueue({ concurrency: AT_ONCE })
  queues.set(engine, queue)
  return queue
}

/** Removes objects with some at a time; each is attempted however the others fare. Containers go before what they use. */
export async function removeObjects(
  engine: Engine,
  objects: readonly EngineObject[],
  options: RemovalOptions & { atOnce?: number } = {},
): Promise<RemovalReport> {
  const left: LeftObject[] = []
  for (const kind of ['container', 'network', 'volume'] as const) {
    const queue = options.atOnce === undefined ? queueOf(engine) : new PQueue({ concurrency: options.atOnce })
    const some = objects.filter((object) => object.kind === kind)
    const results = await Promise.all(
      some.map((object) => queue.add(() => removeObject(engine, object, options))),
    )
    left.push(...results.filter((result) => result !== undefined))
  }
  return { removed: objects.length - left.length, left }
}

/** An object as a list shows it. */
export interface ListedObject extends EngineObject {
  readonly labels: Readonly<Record<string, string>>
  /** Of a container: created, running, paused, restarting, removing, exited or dead. */
  readonly state?: string
  /** By the engine's clock. */
  readonly createdMs?: number
}

export async function listObjects(
  engine: Engine,
  filters: { label: string[] },
  { signal }: CallOptions = {},
): Promise<ListedObject[]> {
  const { control } = engine
  const options = { deadlineMs: 30_000, signal }
  const [containers, networks, volumes] = await Promise.all([
    call('listing containers', options, (abortSignal) =>
      control.listContainers({ all: true, filters, abortSignal }),
    ),
    call('listing networks', options, (abortSignal) => control.listNetworks({ filters, abortSignal })),
    call('listing volumes', options, (abortSignal) => control.listVolumes({ filters, abortSignal })),
  ])
  return [
    ...containers.map(({ Id, Names, Labels, State, Created }) => ({
      kind: 'container' as const,
      id: Id,
      name: (Names[0] ?? Id).replace(/^\//, ''),
      labels: Labels,
      state: State,
      createdMs: Created * 1000,
    })),
    ...networks.map(({ Id, Name, Labels, Created }) => ({
      kind: 'network' as const,
      id: Id,
      name: Name,
      labels: Labels ?? {},
      createdMs: Date.parse(Created),
    })),
    ...(volumes.Volumes ?? []).map((volume) => ({
      kind: 'volume' as const,
      id: volume.Name,
      name: volume.Name,
      labels: volume.Labels ?? {},
      createdMs: Date.parse((volume as { CreatedAt?: string }).CreatedAt ?? ''),
    })),
  ]
}

const ROUNDS = 4

/** Nothing is known to be gone because a look at it failed: it is looked again, with growing pauses. @throws EngineError */
async function listPatiently(engine: Engine, selector: SandboxSelector): Promise<ListedObject[]> {
  const endMs = performance.now() + BUDGET_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await listObjects(engine, selectorFilter(selector))
    } catch (error) {
      const mayAnswer = error instanceof EngineError && mayPass(error)
      if (!mayAnswer || performance.now() + pauseMs >= endMs) throw error
      await pause(pauseMs)
    }
  }
}

/** What a selector names, less the sandboxes that are kept, and the volumes and networks of their run that they may use. */
async function listRemovable(engine: Engine, selector: SandboxSelector): Promise<ListedObject[]> {
  const objects = await listPatiently(engine, selector)
  const { kept } = engine
  if (kept.size === 0) return objects
  return objects.filter(({ kind, labels }) => {
    const project = labels[PROJECT_LABEL]
    return project === undefined ? kind === 'container' : !kept.has(project)
  })
}

/** Removes all that carries the selector's labels, and looks again until a list is empty. Never throws for what would not go. */
export async function removeSelected(engine: Engine, selector: SandboxSelector): Promise<RemovalReport> {
  let removed = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const objects = await listRemovable(engine, selector)
    if (objects.length === 0) return { removed, left: [] }
    const report = await removeObjects(engine, objects)
    removed += report.removed
    if (report.left.length > 0) return { removed, left: report.left }
  }
  const rest = await listRemovable(engine, selector)
  return { removed, left: rest.map((object) => leftObject(object, 'it was made anew while it was removed')) }
}
