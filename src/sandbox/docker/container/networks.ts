import type Docker from 'dockerode'
import type { NetworkPlan, SandboxPlan, ServicePlan, VolumePlan } from '../../sandbox-plan.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { objectName } from '../identity/names.ts'
import { endpoint } from './container-body.ts'
import type { ContainerRef } from './container-ref.ts'

interface ResourceContext {
  readonly engine: Engine
  readonly project: string
  readonly labels: Readonly<Record<string, string>>
}

async function createNetwork(plan: NetworkPlan, context: ResourceContext): Promise<[string, string]> {
  const name = objectName(context.project, plan.name)
  const body = {
    Name: name,
    Internal: plan.internal,
    ...(plan.driver !== undefined && { Driver: plan.driver }),
    ...(plan.options && { Options: plan.options }),
    ...(plan.attachable !== undefined && { Attachable: plan.attachable }),
    ...(plan.ipv4 !== undefined && { EnableIPv4: plan.ipv4 }),
    ...(plan.ipv6 !== undefined && { EnableIPv6: plan.ipv6 }),
    Labels: { ...plan.labels, ...context.labels },
  }
  await call('creating a network', {}, () =>
    context.engine.control.createNetwork(body as Docker.NetworkCreateOptions),
  )
  return [plan.name, name]
}

async function createVolume(plan: VolumePlan, context: ResourceContext): Promise<[string, string]> {
  if (plan.external !== undefined) return [plan.name, plan.external]
  const name = objectName(context.project, plan.name)
  const body = {
    Name: name,
    ...(plan.driver !== undefined && { Driver: plan.driver }),
    ...(plan.options && { DriverOpts: plan.options }),
    Labels: { ...plan.labels, ...context.labels },
  }
  await call('creating a volume', {}, () =>
    context.engine.control.createVolume(body as Docker.VolumeCreateOptions),
  )
  return [plan.name, name]
}

export interface SharedResources {
  readonly networkNames: ReadonlyMap<string, string>
  readonly volumeNames: ReadonlyMap<string, string>
}

/** Makes the networks and volumes of a plan. @throws EngineError */
export async function createResources(plan: SandboxPlan, context: ResourceContext): Promise<SharedResources> {
  const networks: [string, string][] = []
  for (const network of plan.networks) networks.push(await createNetwork(network, context))
  const volumes: [string, string][] = []
  for (const volume of plan.volumes) volumes.push(await createVolume(volume, context))
  return { networkNames: new Map(networks), volumeNames: new Map(volumes) }
}

/** Connects a created container to all networks but the first, which the create call named: older engines take only one there. */
export async function connectFurtherNetworks(
  container: ContainerRef,
  service: ServicePlan,
  context: { networkNames: ReadonlyMap<string, string>; containerName: string },
): Promise<void> {
  for (const network of service.networks.slice(1)) {
    const name = context.networkNames.get(network) ?? network
    const EndpointConfig = endpoint(service, network, context) as unknown as Docker.EndpointSettings
    await call('connecting a network', {}, () =>
      container.engine.control.getNetwork(name).connect({ Container: container.id, EndpointConfig }),
    )
  }
}
