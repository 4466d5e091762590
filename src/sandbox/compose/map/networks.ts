import { definedOnly } from '../../../util/defined-only.ts'
import type { NetworkPlan, VolumePlan } from '../../sandbox-plan.ts'
import type { MapContext } from './context.ts'
import { hostNetworkName } from './endpoints.ts'
import type { ComposeNetwork, ComposeProject, ComposeVolume } from './schema.ts'

/** The host's bridge has one name: two copies cannot both have it. */
const BRIDGE_NAME = 'com.docker.network.bridge.name'

function noteNetwork(
  key: string,
  network: ComposeNetwork,
  { projectName, context }: { projectName: string; context: MapContext },
): void {
  const place = `networks.${key}`
  if (network?.external) {
    context.rewritings.push(
      `${place}: each copy has a private network in place of the external network '${network.name ?? key}'`,
    )
    return
  }
  if (network?.name !== undefined && network.name !== `${projectName}_${key}`) {
    context.rewritings.push(
      `${place}.name: '${network.name}' is not kept, each copy has a network of its own`,
    )
  }
  if (Object.keys(network?.ipam ?? {}).length > 0) {
    context.rewritings.push(`${place}.ipam: subnets come from belljar's own range`)
  }
  if (network?.driver_opts?.[BRIDGE_NAME] !== undefined) {
    context.rewritings.push(
      `${place}.driver_opts.${BRIDGE_NAME}: not kept, each copy has a bridge of its own`,
    )
  }
}

function networkPlan(key: string, network: ComposeNetwork): NetworkPlan {
  if (network === null || network.external) return { name: key, internal: false }
  const options = Object.fromEntries(
    Object.entries(network.driver_opts ?? {}).filter(([option]) => option !== BRIDGE_NAME),
  )
  return {
    name: key,
    internal: network.internal ?? false,
    ...definedOnly({
      driver: network.driver,
      options: Object.keys(options).length > 0 ? options : undefined,
      labels: network.labels,
      attachable: network.attachable,
      ipv4: network.enable_ipv4,
      ipv6: network.enable_ipv6,
    }),
  }
}

/** The networks that some service is on, each private to its copy. */
export function networkPlans(project: ComposeProject, context: MapContext): NetworkPlan[] {
  const plans = new Map<string, NetworkPlan>()
  for (const service of Object.values(project.services)) {
    const onHost = hostNetworkName(service)
    if (onHost !== undefined) plans.set(onHost, { name: onHost, internal: false })
  }
  for (const [key, network] of Object.entries(project.networks ?? {})) {
    noteNetwork(key, network, { projectName: project.name ?? '', context })
    plans.set(key, networkPlan(key, network))
  }
  return [...plans.values()]
}

function volumePlan(key: string, volume: ComposeVolume): VolumePlan {
  if (volume?.external) return { name: key, external: volume.name ?? key }
  return {
    name: key,
    ...definedOnly({ driver: volume?.driver, options: volume?.driver_opts, labels: volume?.labels }),
  }
}

export function volumePlans(project: ComposeProject, context: MapContext): VolumePlan[] {
  return Object.entries(project.volumes ?? {}).map(([key, volume]) => {
    const fixed = volume?.name !== undefined && volume.name !== `${project.name}_${key}`
    if (fixed && !volume.external) {
      context.rewritings.push(
        `volumes.${key}.name: '${volume.name}' is not kept, each copy has a volume of its own`,
      )
    }
    return volumePlan(key, volume)
  })
}
