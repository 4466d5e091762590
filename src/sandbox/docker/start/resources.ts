import type Docker from 'dockerode'
import type { NetworkPlan, VolumePlan } from '../../sandbox-plan.ts'
import { call } from '../engine/call.ts'
import { objectName } from '../identity/names.ts'
import { containersOn, createNetwork } from '../network/create-network.ts'
import { allSettled } from './all-settled.ts'
import type { AttemptContext } from './context.ts'

const NETWORK_LABEL = 'com.docker.compose.network'
const VOLUME_LABEL = 'com.docker.compose.volume'

/** What the services of a sandbox share: real names by the plan's. */
export interface SharedResources {
  readonly networkNames: ReadonlyMap<string, string>
  readonly volumeNames: ReadonlyMap<string, string>
}

async function makeNetwork(plan: NetworkPlan, context: AttemptContext): Promise<[string, string]> {
  if (plan.perRun) return [plan.name, await context.support.runNetworks.forRun(context.run, plan)]
  const name = objectName(context.project, plan.name)
  await createNetwork(plan, {
    engine: context.engine,
    subnets: context.support.subnets,
    name,
    labels: { ...context.labels, [NETWORK_LABEL]: plan.name },
    containers: containersOn(context.plan, plan.name),
  })
  return [plan.name, name]
}

async function makeVolume(plan: VolumePlan, context: AttemptContext): Promise<[string, string]> {
  if (plan.external !== undefined) return [plan.name, plan.external]
  const name = objectName(context.project, plan.name)
  const body = {
    Name: name,
    ...(plan.driver !== undefined && { Driver: plan.driver }),
    ...(plan.options && { DriverOpts: plan.options }),
    Labels: { ...plan.labels, ...context.labels, [VOLUME_LABEL]: plan.name },
  }
  await call('creating a volume', {}, () =>
    context.engine.control.createVolume(body as Docker.VolumeCreateOptions),
  )
  return [plan.name, name]
}

/** Makes the networks that some service is on, and the volumes of a plan. @throws EngineError, ConfigError */
export async function makeResources(context: AttemptContext): Promise<SharedResources> {
  const { networks, volumes } = context.plan
  const used = networks.filter(({ name }) => containersOn(context.plan, name) > 0)
  const making = [
    allSettled(used.map((network) => makeNetwork(network, context))),
    allSettled(volumes.map((volume) => makeVolume(volume, context))),
  ]
  const [networkNames = [], volumeNames = []] = await allSettled(making)
  return { networkNames: new Map(networkNames), volumeNames: new Map(volumeNames) }
}
