import type { Sleep } from '../../../util/abort.ts'
import type { LeftObject } from '../../provider.ts'
import type { Engine } from '../engine/engine.ts'
import { identityFromLabels } from '../identity/labels.ts'
import { type ListedObject, removeObjects } from '../remove.ts'
import { Looks } from './looks.ts'
import { isAnchor, type SurveyedRun, survey } from './survey.ts'
import { type Liveness, SECOND_LOOK_MS } from './verdict.ts'

export interface CleanupOptions {
  /** Left out: whatever dead runs have left. */
  readonly run?: string
  readonly sample?: string
  readonly epoch?: number
  /** Also what belongs to a live run; needs `run`. */
  readonly force?: boolean
  readonly dryRun?: boolean
  /** Told before the second look is waited for. */
  readonly onWait: (runs: readonly string[], ms: number) => void
  readonly sleep: Sleep
  readonly now: () => number
}

export interface CleanupResult {
  /** What went, or would go. */
  readonly objects: readonly ListedObject[]
  /** Runs that are in use, so that nothing of them was touched. */
  readonly inUse: readonly string[]
  /** Runs of which it cannot be told whether they live. */
  readonly unknown: readonly string[]
  readonly left: readonly LeftObject[]
}

/** Removes what was chosen of runs that are dead, and with `force` of those that live. @throws EngineError */
export async function cleanUp(engine: Engine, options: CleanupOptions): Promise<CleanupResult> {
  const looks = new Looks()
  const chosen = async () => (await survey(engine)).filter((run) => chosenObjects(run, options).length > 0)
  let runs = await chosen()
  let verdicts = looks.take(runs, options.now())
  const suspects = options.force ? [] : named(runs, verdicts, 'suspect')
  if (suspects.length > 0) {
    const waitMs = SECOND_LOOK_MS + 500
    options.onWait(suspects, waitMs)
    await options.sleep(waitMs)
    runs = await chosen()
    verdicts = looks.take(runs, options.now())
  }
  const going = options.force ? runs : runs.filter(({ run }) => verdicts.get(run) === 'dead')
  const objects = going.flatMap((run) => chosenObjects(run, options))
  const { left } = options.dryRun ? { left: [] } : await removeObjects(engine, objects)
  return {
    objects,
    inUse: options.force ? [] : named(runs, verdicts, 'alive'),
    unknown: options.force ? [] : named(runs, verdicts, 'suspect'),
    left,
  }
}

function named(
  runs: readonly SurveyedRun[],
  verdicts: ReadonlyMap<string, Liveness>,
  verdict: Liveness,
): string[] {
  return runs.map(({ run }) => run).filter((run) => verdicts.get(run) === verdict)
}

/** A live run makes its anchor anew, so that goes with a dead one only. */
function chosenObjects(
  { run, objects, anchored }: SurveyedRun,
  { run: wanted, sample, epoch, force }: CleanupOptions,
): readonly ListedObject[] {
  if (wanted !== undefined && run !== wanted) return []
  return objects.filter((object) => {
    if (isAnchor(object) && force && anchored) return false
    if (sample === undefined && epoch === undefined) return true
    const identity = identityFromLabels(object.labels)
    if (!identity) return false
    return (
      (sample === undefined || identity.sample === sample) &&
      (epoch === undefined || identity.epoch === epoch)
    )
  })
}
