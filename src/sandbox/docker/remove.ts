import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'
import { errorMessage } from '../../errors.ts'
import type { SandboxSelector } from '../../sample/identity.ts'
import type { LeftObject, RemovalReport, RemovedKind } from '../provider.ts'
import { call } from './engine/call.ts'
import type { Engine } from './engine/engine.ts'
import { statusOf } from './engine/engine-error.ts'
import { selectorFilter } from './identity/labels.ts'

/** Something that removal must make go. */
export interface EngineObject {
  readonly kind: Exclude<RemovedKind, 'image' | 'folder'>
  readonly id: string
  readonly name: string
}

const AT_ONCE = 8
const ATTEMPTS = 6
const FIRST_PAUSE_MS = 100
const REMOVE_DEADLINE_MS = 30_000

const COMMANDS = {
  container: 'docker rm --force --volumes',
  network: 'docker network rm',
  volume: 'docker volume rm --force',
} as const

async function removeOnce(engine: Engine, { kind, id }: EngineObject): Promise<void> {
  const { control } = engine
  const options = { deadlineMs: REMOVE_DEADLINE_MS }
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

/** Removes one object, again while the engine is busy with it. Resolves to why it is still there, if it is. */
export async function removeObject(engine: Engine, object: EngineObject): Promise<LeftObject | undefined> {
  let reason = 'unknown'
  for (let attempt = 0, pauseMs = FIRST_PAUSE_MS; attempt < ATTEMPTS; attempt += 1, pauseMs *= 2) {
    if (attempt > 0) await sleep(pauseMs)
    try {
      await removeOnce(engine, object)
      return undefined
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      reason = errorMessage(error)
      if (await isGone(engine, object)) return undefined
    }
  }
  const { kind, name } = object
  return { kind, name, reason, command: `${COMMANDS[kind]} ${name}` }
}

/** Removes objects with some at a time; each is attempted however the others fare. Containers go before what they use. */
export async function removeObjects(
  engine: Engine,
  objects: readonly EngineObject[],
): Promise<RemovalReport> {
  const left: LeftObject[] = []
  for (const kind of ['container', 'network', 'volume'] as const) {
    const queue = new PQueue({ concurrency: AT_ONCE })
    const some = objects.filter((object) => object.kind === kind)
    const results = await Promise.all(some.map((object) => queue.add(() => removeObject(engine, object))))
    left.push(...results.filter((result) => result !== undefined))
  }
  return { removed: objects.length - left.length, left }
}

export async function listObjects(
  engine: Engine,
  filters: { label: string[] },
): Promise<(EngineObject & { labels: Readonly<Record<string, string>> })[]> {
  const { control } = engine
  const options = { deadlineMs: 30_000 }
  const [containers, networks, volumes] = await Promise.all([
    call('listing containers', options, (abortSignal) =>
      control.listContainers({ all: true, filters, abortSignal }),
    ),
    call('listing networks', options, (abortSignal) => control.listNetworks({ filters, abortSignal })),
    call('listing volumes', options, (abortSignal) => control.listVolumes({ filters, abortSignal })),
  ])
  return [
    ...containers.map(({ Id, Names, Labels }) => ({
      kind: 'container' as const,
      id: Id,
      name: (Names[0] ?? Id).replace(/^\//, ''),
      labels: Labels,
    })),
    ...networks.map(({ Id, Name, Labels }) => ({
      kind: 'network' as const,
      id: Id,
      name: Name,
      labels: Labels ?? {},
    })),
    ...(volumes.Volumes ?? []).map(({ Name, Labels }) => ({
      kind: 'volume' as const,
      id: Name,
      name: Name,
      labels: Labels ?? {},
    })),
  ]
}

const ROUNDS = 4

/** Removes all that carries the selector's labels, and looks again until a list is empty. Never throws for what would not go. */
export async function removeSelected(engine: Engine, selector: SandboxSelector): Promise<RemovalReport> {
  const filters = selectorFilter(selector)
  let removed = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const objects = await listObjects(engine, filters)
    if (objects.length === 0) return { removed, left: [] }
    const report = await removeObjects(engine, objects)
    removed += report.removed
    if (report.left.length > 0) return { removed, left: report.left }
  }
  const rest = await listObjects(engine, filters)
  const left = rest.map(({ kind, name }) => ({
    kind,
    name,
    reason: 'it was made anew while it was being removed',
    command: `${COMMANDS[kind]} ${name}`,
  }))
  return { removed, left }
}
