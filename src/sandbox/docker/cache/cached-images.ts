import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { statusOf } from '../engine/engine-error.ts'
import { CACHE_LABEL } from '../identity/labels.ts'

/** An image that belljar made and left on the engine for later runs. */
export interface CachedImage {
  readonly id: string
  /** Its tags; none: it lost them to a later build of the same content. */
  readonly tags: readonly string[]
  /** Shared layers included. */
  readonly bytes: number
  /** When a run last asked for it, by the engine's clock. */
  readonly usedMs: number
  /** Whether a container of anybody's, running or not, is made from it. */
  readonly inUse: boolean
}

/** Tags that belljar's own images have; whatever else a person has tagged of them stays. */
const REPOSITORY = 'belljar-cache:'

/** All images that carry `belljar.cache`. @throws EngineError */
export async function cachedImages(engine: Engine): Promise<CachedImage[]> {
  const { control } = engine
  const [images, containers] = await Promise.all([
    call('listing images', { deadlineMs: 30_000 }, () =>
      control.listImages({ filters: JSON.stringify({ label: [CACHE_LABEL] }) }),
    ),
    call('listing containers', { deadlineMs: 30_000 }, (abortSignal) =>
      control.listContainers({ all: true, abortSignal }),
    ),
  ])
  const used = new Set(containers.map(({ ImageID }) => ImageID))
  const found: CachedImage[] = []
  for (const { Id: id, RepoTags, Size: bytes, Created } of images) {
    const usedMs = await lastUse(engine, id, Created * 1000)
    if (usedMs === undefined) continue
    const tags = (RepoTags ?? []).filter((tag) => tag.startsWith(REPOSITORY))
    found.push({ id, tags, bytes, usedMs, inUse: used.has(id) })
  }
  return found
}

/** A run tags each cached image anew when it uses it. undefined: it has gone meanwhile. */
async function lastUse(engine: Engine, id: string, createdMs: number): Promise<number | undefined> {
  try {
    const info = await call('looking at an image', {}, () => engine.control.getImage(id).inspect())
    const { LastTagTime = '' } = (info as { Metadata?: { LastTagTime?: string } }).Metadata ?? {}
    const taggedMs = Date.parse(LastTagTime)
    return taggedMs > 0 ? taggedMs : createdMs
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

/** Bytes of all image layers on the engine, each counted once. @throws EngineError */
export async function layerBytes(engine: Engine): Promise<number> {
  // dockerode's own call cannot say which part is wanted, and the size of all volumes takes long.
  const request = {
    path: '/system/df?',
    method: 'GET',
    options: { type: 'image' },
    statusCodes: { 200: true, 500: 'server error' },
  }
  const usage = await call('disk usage of the engine', { deadlineMs: 120_000 }, () => dial(engine, request))
  return (usage as { LayersSize?: number }).LayersSize ?? 0
}

function dial(engine: Engine, request: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    engine.control.modem.dial(request as never, (error: unknown, answer: unknown) =>
      error ? reject(error) : resolve(answer),
    )
  })
}
