import { randomBytes } from 'node:crypto'
import type Docker from 'dockerode'
import type { NetworkPlan, SandboxPlan } from '../../sandbox-plan.ts'
import { prefixLengthFor, uniqueLocalSubnet } from '../../subnets.ts'
import { call } from '../engine/call.ts'
import { compareVersions, type Engine } from '../engine/engine.ts'
import { statusOf } from '../engine/engine-error.ts'
import type { SubnetPool } from './subnet-pool.ts'

/** Engine 28: bridges without any address on the host, IPv6 too. */
const ISOLATED_API = '1.48'
const TRIES = 12

export interface NetworkRequest {
  readonly engine: Engine
  readonly subnets: SubnetPool
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** How many containers will be on it. */
  readonly containers: number
}

/** From an internal network the host itself must not be reachable either: its bridge gets no address there. */
export function isolation(engine: Pick<Engine, 'facts'>, ipv6 = false): Record<string, string> {
  const canIsolate = compareVersions(engine.facts.apiVersion, ISOLATED_API) >= 0
  return {
    'com.docker.network.bridge.inhibit_ipv4': 'true',
    ...(ipv6 && canIsolate && { 'com.docker.network.bridge.gateway_mode_ipv6': 'isolated' }),
  }
}

/** What an internal network lacks on this engine; undefined: nothing. */
export function missingIsolation(plan: NetworkPlan, engine: Pick<Engine, 'facts'>): string | undefined {
  const canIsolate = compareVersions(engine.facts.apiVersion, ISOLATED_API) >= 0
  if (!plan.internal || !plan.ipv6 || canIsolate) return undefined
  return `the internal network '${plan.name}' has IPv6, and Engine ${engine.facts.version} (before 28) gives its bridge an IPv6 address on the host: services of the host that listen on all addresses can be reached there`
}

function networkBody(plan: NetworkPlan, request: NetworkRequest, subnet: string | undefined) {
  const { driver = 'bridge' } = plan
  const subnets = [...(subnet ? [subnet] : []), ...(plan.ipv6 ? [uniqueLocalSubnet(randomBytes(7))] : [])]
  const options = {
    ...(plan.internal && driver === 'bridge' && isolation(request.engine, plan.ipv6)),
    ...plan.options,
  }
  return {
    Name: request.name,
    Driver: driver,
    Internal: plan.internal,
    Options: options,
    IPAM: { Driver: 'default', Config: subnets.map((Subnet) => ({ Subnet })) },
    ...(plan.attachable !== undefined && { Attachable: plan.attachable }),
    ...(plan.ipv4 !== undefined && { EnableIPv4: plan.ipv4 }),
    ...(plan.ipv6 !== undefined && { EnableIPv6: plan.ipv6 }),
    Labels: { ...plan.labels, ...request.labels },
  }
}

async function create(plan: NetworkPlan, request: NetworkRequest, subnet?: string): Promise<void> {
  const body = networkBody(plan, request, subnet) as unknown as Docker.NetworkCreateOptions
  await call('creating a network', { deadlineMs: 120_000 }, () => request.engine.control.createNetwork(body))
}

/** 403 is how the engine refuses a subnet that overlaps; a host may refuse one in other ways, and then another may do. */
function mayBeTheSubnet(error: unknown): boolean {
  const status = statusOf(error)
  return status !== undefined && status !== 404 && status !== 409
}

/** Makes a network with a block of its own. Who was refused one takes the next, as others make networks at the same time. @throws EngineError, ConfigError */
export async function createNetwork(plan: NetworkPlan, request: NetworkRequest): Promise<void> {
  if (plan.ipv4 === false) return create(plan, request)
  const { subnets, containers } = request
  for (let tries = 1; ; tries += 1) {
    const subnet = await subnets.take(prefixLengthFor(containers))
    try {
      await create(plan, request, subnet)
      return
    } catch (error) {
      const last = statusOf(error) === 403 ? TRIES : 3
      if (!mayBeTheSubnet(error) || tries >= last) throw error
      subnets.refresh()
    } finally {
      subnets.settle(subnet)
    }
  }
}

/** How many containers of a plan are on a network of it. */
export function containersOn(plan: SandboxPlan, network: string): number {
  return plan.services
    .filter(({ networks }) => networks.includes(network))
    .reduce((sum, { replicas = 1 }) => sum + replicas, 0)
}
