import { buildRefusals } from './build-rules.ts'
import { namespaceRefusals, volumesFromRefusals } from './namespace-rules.ts'
import { projectNetworkRefusals } from './network-rules.ts'
import { pathRefusals } from './path-rules.ts'
import { privilegeRefusals } from './privilege-rules.ts'
import type { PolicySubject, Refusal } from './refusal.ts'
import { resourceRefusals } from './resource-rules.ts'
import { projectVolumeRefusals } from './volume-rules.ts'

export interface PolicyOptions {
  /** Absolute, links resolved. */
  readonly taskDirectory: string
  readonly allow?: readonly string[]
}

/** Everything in a resolved compose file that a task may not have, less what `allow` names. */
export function checkPolicy(subject: PolicySubject, { taskDirectory, allow = [] }: PolicyOptions): Refusal[] {
  const services = Object.entries(subject.project.services).map(([name, service]) => ({
    place: `services.${name}`,
    service,
  }))
  const refusals = [
    ...services.flatMap((named) => [
      ...privilegeRefusals(named, subject),
      ...namespaceRefusals(named),
      ...volumesFromRefusals(named),
      ...resourceRefusals(named),
      ...buildRefusals(named),
    ]),
    ...projectNetworkRefusals(subject.project),
    ...projectVolumeRefusals(subject.project),
    ...pathRefusals(subject.hostPaths, taskDirectory),
  ]
  return withoutAllowed(refusals, allow)
}

export function withoutAllowed(refusals: readonly Refusal[], allow: readonly string[]): Refusal[] {
  const allowed = new Set(allow)
  return refusals.filter((refusal) => !allowed.has(refusal.allow))
}

/** One line a refusal, for a person. */
export function refusalLines(refusals: readonly Refusal[]): string[] {
  return refusals.map(({ place, why, allow }) => `  ${place}: ${why} (allow: '${allow}')`)
}
