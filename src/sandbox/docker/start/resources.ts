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
  /** Containers can be created before their networks are there, but not started. */
  readonly networksMade: Promise<unknown>
}

function networkRequest(plan: NetworkPlan, context: AttemptContext) {
  return {
    engine: context.engine,
    subnets: context.support.subnets,
    name: objectName(context.project, plan.name),
    labels: { ...context.labels, [NETWORK_LABEL]: plan.name },
    containers: containersOn(context.plan, plan.name),
  }
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

/**
 * Makes the volumes of a plan, and begins with the networks that some service is on. When it throws, nothing is under way.
 * @throws EngineError, ConfigError
 */
export async function makeResources(context: AttemptContext): Promise<SharedResources> {
  const { plan, support, run } = context
  const used = plan.networks.filter(({ name }) => containersOn(plan, name) > 0)
  const own = used.filter(({ perRun }) => !perRun)
  const requests = own.map((network) => ({ network, request: networkRequest(network, context) }))
  const networksMade = allSettled(requests.map(({ network, request }) => createNetwork(network, request)))
  networksMade.catch(() => undefined)
  try {
    const shared = used.filter(({ perRun }) => perRun)
    const [volumes, runNetworks] = await Promise.all([
      allSettled(plan.volumes.map((volume) => makeVolume(volume, context))),
      allSettled(shared.map(async (one) => [one.name, await support.runNetworks.forRun(run, one)] as const)),
    ])
    const ownNames = requests.map(({ network, request }) => [network.name, request.name] as const)
    const networkNames = new Map([...ownNames, ...runNetworks])
    return { networkNames, volumeNames: new Map(volumes), networksMade }
  } catch (error) {
    await networksMade.catch(() => undefined)
    throw error
  }
}
