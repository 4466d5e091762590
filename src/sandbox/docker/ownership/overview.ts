import type { SandboxIdentity } from '../../../sample/identity.ts'
import { identityFromLabels, SERVICE_LABEL } from '../identity/labels.ts'
import type { ListedObject } from '../remove.ts'
import { isAnchor, isKept, type SurveyedRun } from './survey.ts'
import type { Liveness } from './verdict.ts'

/** Whose a sandbox is: of a live run, kept on purpose, left by a dead run, or perhaps left by one. */
export type Belonging = 'alive' | 'kept' | 'orphaned' | 'perhaps orphaned'

/** One sandbox, or what a run has beside its sandboxes, as a person is told of it. */
export interface SandboxOverview {
  readonly run: string
  /** `host:pid` of the process that made it, where it says so. */
  readonly owner: string | undefined
  /** undefined: it belongs to the run as a whole. */
  readonly identity: SandboxIdentity | undefined
  readonly containers: readonly { readonly name: string; readonly service: string; readonly state: string }[]
  readonly networks: number
  readonly volumes: number
  /** By the engine's clock. */
  readonly ageMs: number
  readonly belongs: Belonging
}

/** What is on an engine, sandbox by sandbox, in the order in which runs and sandboxes were made. */
export function overviewOf(
  runs: readonly SurveyedRun[],
  verdicts: ReadonlyMap<string, Liveness>,
  engineNowMs: number,
): SandboxOverview[] {
  const all = runs.flatMap((run) => {
    const groups = new Map<string, ListedObject[]>()
    for (const object of run.objects) {
      const key = JSON.stringify(identityFromLabels(object.labels) ?? null)
      groups.set(key, [...(groups.get(key) ?? []), object])
    }
    return [...groups.values()].map((objects) =>
      overview(run, objects, { verdict: verdicts.get(run.run), engineNowMs }),
    )
  })
  return all.sort((a, b) => b.ageMs - a.ageMs)
}

function overview(
  { run, ownerLabel }: SurveyedRun,
  objects: readonly ListedObject[],
  { verdict, engineNowMs }: { verdict: Liveness | undefined; engineNowMs: number },
): SandboxOverview {
  const containers = objects.filter(({ kind }) => kind === 'container')
  const createdMs = objects.map(({ createdMs: ms }) => ms ?? Number.NaN).filter((ms) => !Number.isNaN(ms))
  const count = (kind: ListedObject['kind']) => objects.filter((object) => object.kind === kind).length
  return {
    run,
    owner: ownerLabel?.split(':').slice(0, 2).join(':'),
    identity: identityFromLabels(objects[0]?.labels ?? {}),
    containers: containers.map((object) => ({
      name: object.name,
      service: isAnchor(object) ? '(anchor)' : (object.labels[SERVICE_LABEL] ?? ''),
      state: object.state ?? '',
    })),
    networks: count('network'),
    volumes: count('volume'),
    ageMs: createdMs.length === 0 ? 0 : Math.max(0, engineNowMs - Math.min(...createdMs)),
    belongs: belonging(verdict, objects.some(isKept)),
  }
}

function belonging(verdict: Liveness | undefined, kept: boolean): Belonging {
  if (verdict === 'alive') return 'alive'
  if (kept) return 'kept'
  return verdict === 'dead' ? 'orphaned' : 'perhaps orphaned'
}
