import { errorMessage } from '../../../errors.ts'
import type { Engine } from '../engine/engine.ts'
import { Looks } from '../ownership/looks.ts'
import { engineTimeMs, type SurveyedRun, survey } from '../ownership/survey.ts'
import { type CachedImage, cachedImages, layerBytes } from './cached-images.ts'
import { removeImage } from './remove-image.ts'

export interface PruneOptions {
  /** Only what no run has used for so long. */
  readonly olderThanMs?: number | undefined
  readonly dryRun?: boolean | undefined
}

/** What became of one image, or would. */
export interface PrunedImage extends CachedImage {
  readonly name: string
  /** Since its last use. */
  readonly idleMs: number
  readonly outcome: 'removed' | 'would remove' | 'kept' | 'left'
  /** Why it was kept, or would not go. */
  readonly why?: string
}

export interface PruneResult {
  readonly images: readonly PrunedImage[]
  /** Disk space that came free, shared layers counted once. In a dry run: 0. */
  readonly freedBytes: number
}

/** Runs begin with their anchor, at about the time at which they first use an image. */
const MARGIN_MS = 300_000

/** Removes images that belljar made for runs and that nothing can need: no container, and no run that is on. @throws EngineError */
export async function pruneImages(engine: Engine, options: PruneOptions = {}): Promise<PruneResult> {
  const [runs, nowMs] = await Promise.all([survey(engine), engineTimeMs(engine)])
  const neededSinceMs = beginOfLiveRuns(runs)
  const images = await cachedImages(engine)
  const before = options.dryRun ? 0 : await layerBytes(engine)
  const pruned: PrunedImage[] = []
  for (const image of images.sort((a, b) => a.usedMs - b.usedMs)) {
    const idleMs = Math.max(0, nowMs - image.usedMs)
    const name = image.tags[0] ?? image.id
    const why = reasonToKeep(image, { idleMs, neededSinceMs, ...options })
    const outcome =
      why === undefined ? await remove(engine, image, options) : ({ outcome: 'kept', why } as const)
    pruned.push({ ...image, name, idleMs, ...outcome })
  }
  const after = options.dryRun ? 0 : await layerBytes(engine)
  return { images: pruned, freedBytes: Math.max(0, before - after) }
}

/** From when on a run that may still be on can have begun to use images; infinite: there is none. */
export function beginOfLiveRuns(runs: readonly SurveyedRun[]): number {
  const verdicts = new Looks().take(runs, 0)
  const live = runs.filter(({ run }) => verdicts.get(run) !== 'dead')
  const begins = live.flatMap(({ objects }) => objects.flatMap(({ createdMs }) => createdMs ?? []))
  return Math.min(...begins.filter((ms) => !Number.isNaN(ms))) - MARGIN_MS
}

export function reasonToKeep(
  { inUse, usedMs }: Pick<CachedImage, 'inUse' | 'usedMs'>,
  facts: { idleMs: number; neededSinceMs: number; olderThanMs?: number | undefined },
): string | undefined {
  if (inUse) return 'a container is made from it'
  if (usedMs >= facts.neededSinceMs) return 'a run that is on may need it'
  return facts.olderThanMs !== undefined && facts.idleMs < facts.olderThanMs ? 'used lately' : undefined
}

async function remove(
  engine: Engine,
  { id, tags }: CachedImage,
  { dryRun }: PruneOptions,
): Promise<Pick<PrunedImage, 'outcome' | 'why'>> {
  if (dryRun) return { outcome: 'would remove' }
  try {
    for (const name of tags.length > 0 ? tags : [id]) await removeImage(engine, name)
    return { outcome: 'removed' }
  } catch (error) {
    return { outcome: 'left', why: errorMessage(error) }
  }
}
