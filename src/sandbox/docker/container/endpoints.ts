import type { EndpointPlan, SandboxPlan, ServicePlan } from '../../sandbox-plan.ts'
import { compareVersions, type Engine } from '../engine/engine.ts'
import { objectName } from '../identity/names.ts'

/** The first engines that take several endpoints in the create call. */
const SEVERAL_ENDPOINTS_API = '1.44'

export interface EndpointContext {
  readonly plan: SandboxPlan
  readonly project: string
  readonly containerName: string
  /** Real names by the plan's. */
  readonly networkNames: ReadonlyMap<string, string>
}

export type Endpoint = EndpointPlan & { readonly Links?: readonly string[] }

export function containerName(project: string, service: string, number: number): string {
  return objectName(project, `${service}-${number}`)
}

export function replicasIn(plan: SandboxPlan, service: string): number {
  return plan.services.find(({ name }) => name === service)?.replicas ?? 1
}

export function containerNames(plan: SandboxPlan, project: string, service: string): string[] {
  return Array.from({ length: replicasIn(plan, service) }, (_, index) =>
    containerName(project, service, index + 1),
  )
}

/** Entries of an endpoint's `Links`, as Compose writes them. */
export function linksOf(service: ServicePlan, { plan, project }: EndpointContext): string[] {
  return (service.links ?? []).flatMap(({ service: target, alias }) =>
    containerNames(plan, project, target).flatMap((name, index) => [
      `${name}:${alias}`,
      `${name}:${target}-${index + 1}`,
      `${name}:${name}`,
    ]),
  )
}

/** The networks that a service is on, under their real names, the first as its `NetworkMode`. */
export function endpointsOf(service: ServicePlan, context: EndpointContext): [string, Endpoint][] {
  const links = linksOf(service, context)
  return service.networks.map((network) => {
    const planned = service.endpoints?.[network] ?? { Aliases: [service.name] }
    const endpoint = {
      ...planned,
      Aliases: [...new Set([...planned.Aliases, context.containerName])],
      ...(links.length > 0 && { Links: links }),
    }
    return [context.networkNames.get(network) ?? network, endpoint]
  })
}

/** Those that the create call takes, and those that are connected before the start, as older engines take only one. */
export function splitEndpoints(
  endpoints: readonly [string, Endpoint][],
  engine: Pick<Engine, 'facts'>,
): { created: [string, Endpoint][]; connected: [string, Endpoint][] } {
  const several = compareVersions(engine.facts.apiVersion, SEVERAL_ENDPOINTS_API) >= 0
  const count = several ? endpoints.length : 1
  return { created: endpoints.slice(0, count), connected: endpoints.slice(count) }
}
