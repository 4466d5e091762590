import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { ANCHOR_LABEL, KEEP_LABEL, OWNER_LABEL, PROJECT_LABEL, RUN_LABEL } from '../identity/labels.ts'
import { parseOwner } from '../identity/owner.ts'
import { type ListedObject, listObjects } from '../remove.ts'
import type { Seen } from './looks.ts'
import { ownerState } from './owner-state.ts'

/** All that one look finds of a run. */
export interface SurveyedRun extends Seen {
  /** Of its first object that says so. */
  readonly ownerLabel: string | undefined
  readonly objects: readonly ListedObject[]
}

const RUNNING = ['running', 'paused', 'restarting']

export const isAnchor = ({ labels }: ListedObject): boolean => labels[ANCHOR_LABEL] === 'true'
export const isKept = ({ labels }: ListedObject): boolean => labels[KEEP_LABEL] !== undefined

function surveyed(run: string, objects: readonly ListedObject[]): SurveyedRun {
  const ownerLabel = objects.find(({ labels }) => labels[OWNER_LABEL] !== undefined)?.labels[OWNER_LABEL]
  return {
    run,
    objects,
    ownerLabel,
    owner: ownerState(parseOwner(ownerLabel)),
    anchored: objects.some((object) => isAnchor(object) && RUNNING.includes(object.state ?? '')),
    anchorless: objects.every(({ labels }) => labels[ANCHOR_LABEL] === undefined),
  }
}

/** Groups what is labelled by run. */
export function groupByRun(objects: readonly ListedObject[]): SurveyedRun[] {
  const byRun = new Map<string, ListedObject[]>()
  for (const object of objects) {
    const run = object.labels[RUN_LABEL] ?? ''
    byRun.set(run, [...(byRun.get(run) ?? []), object])
  }
  return [...byRun].map(([run, some]) => surveyed(run, some))
}

/** Looks at all runs of which anything is on the engine. @throws EngineError */
export async function survey(engine: Engine, signal?: AbortSignal): Promise<SurveyedRun[]> {
  return groupByRun(await listObjects(engine, { label: [RUN_LABEL] }, { signal }))
}

/** What may be removed of a dead run unasked: not what may be kept, nor the volumes and networks of its run that this may use. */
export function sweepable({ objects }: SurveyedRun): ListedObject[] {
  const kept = new Set(objects.filter(isKept).map(({ labels }) => labels[PROJECT_LABEL]))
  return objects.filter(({ kind, labels }) => {
    const project = labels[PROJECT_LABEL]
    return project === undefined ? kept.size === 0 || kind === 'container' : !kept.has(project)
  })
}

/** The engine's clock. @throws EngineError */
export async function engineTimeMs(engine: Engine): Promise<number> {
  const info = (await call('time of the Docker engine', { deadlineMs: 10_000 }, () =>
    engine.control.info(),
  )) as { SystemTime?: string }
  return Date.parse(info.SystemTime ?? '') || Date.now()
}
