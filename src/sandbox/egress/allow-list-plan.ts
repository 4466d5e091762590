import { openServices } from '../reach.ts'
import type { ContainerPlan, NetworkPlan, SandboxPlan, ServicePlan } from '../sandbox-plan.ts'
import { gatewayService, holderService, WAY_OUT, withoutNetwork } from './helpers.ts'
import { GATEWAY, holderName, PROXY_PORT } from './names.ts'

export interface AllowListPlan {
  readonly plan: SandboxPlan
  /** Such as `internet: only pypi.org, *.example.com (web)`. */
  readonly reach: string
  /** What of the given plan is not kept. */
  readonly rewritings: readonly string[]
}

const KEPT_OPTION = 'com.docker.network.driver.mtu'
const RAW = ['CAP_NET_RAW', 'CAP_NET_ADMIN']
const IPV4 = /^[\d.]+(\/\d+)?$/

/** Closed to the outside, whatever the file says of it. */
function closedNetwork(network: NetworkPlan): NetworkPlan {
  const { name, labels, attachable, options = {} } = network
  const mtu = options[KEPT_OPTION]
  return {
    name,
    internal: true,
    ...(labels && { labels }),
    ...(attachable !== undefined && { attachable }),
    ...(mtu !== undefined && { options: { [KEPT_OPTION]: mtu } }),
  }
}

function networkRewritings(network: NetworkPlan): string[] {
  const { name, ipv6, options = {} } = network
  const dropped = Object.keys(options).filter((option) => option !== KEPT_OPTION)
  return [
    ...(ipv6 ? [`networks.${name}: no IPv6 under an allow-list`] : []),
    ...dropped.map((option) => `networks.${name}.driver_opts.${option}: not kept under an allow-list`),
  ]
}

/** Capabilities with which frames could be written past the filter, or the filter undone. */
function withoutRaw(container: ContainerPlan): ContainerPlan {
  const { hostConfig } = container
  const dropped = (hostConfig.CapDrop ?? []) as readonly string[]
  if (dropped.includes('ALL')) return container
  return { ...container, hostConfig: { ...hostConfig, CapDrop: [...new Set([...dropped, ...RAW])] } }
}

function aliasesOf({ services }: SandboxPlan): string[] {
  const all = services.flatMap(({ name, endpoints = {} }) => [
    name,
    ...Object.values(endpoints).flatMap(({ Aliases }) => Aliases),
  ])
  return [...new Set(all)]
}

/** For programs that ask for a proxy, where the file itself says nothing of one. */
function withProxy(container: ContainerPlan, siblings: readonly string[]): ContainerPlan {
  const proxy = `http://${GATEWAY}:${PROXY_PORT}`
  const direct = ['localhost', '127.0.0.1', '::1', ...siblings].join(',')
  const values = { http_proxy: proxy, https_proxy: proxy, no_proxy: direct }
  const given = new Set(container.env.map((entry) => (entry.split('=')[0] ?? '').toLowerCase()))
  const added = Object.entries(values)
    .filter(([name]) => !given.has(name))
    .flatMap(([name, value]) => [`${name}=${value}`, `${name.toUpperCase()}=${value}`])
  return { ...container, env: [...container.env, ...added] }
}

function joinedService(service: ServicePlan, target: string): ServicePlan {
  const { networks: _, endpoints: __, links = [], ...rest } = service
  const waited = new Set(service.dependsOn.map((edge) => edge.service))
  const linked = links
    .filter((link) => !waited.has(link.service))
    .map((link) => ({ service: link.service, condition: 'started' as const, required: true }))
  return {
    ...rest,
    container: withoutNetwork(service),
    networks: [],
    joins: { ...service.joins, network: target },
    ...(target === holderName(service.name) && { joinsByNumber: true }),
    dependsOn: [...service.dependsOn, ...linked],
  }
}

interface Surroundings {
  /** Services that have networks, and so a holder. */
  readonly held: ReadonlySet<string>
  /** Those that could reach out without the list. */
  readonly open: ReadonlySet<string>
  /** Under which services call each other. */
  readonly siblings: readonly string[]
}

/** A service as it is under the allow-list; one without a network stays as it is. */
function closedService(service: ServicePlan, { held, open, siblings }: Surroundings): ServicePlan {
  const holding = service.joins?.network ?? service.name
  if (!held.has(holding)) return service
  const closed = joinedService(service, holderName(holding))
  const container = withoutRaw(closed.container)
  if (!open.has(service.name)) return { ...closed, container }
  return {
    ...closed,
    container: withProxy(container, siblings),
    dependsOn: [...closed.dependsOn, { service: GATEWAY, condition: 'started', required: true }],
  }
}

/** Follows `joins.network` to the service that has networks of its own. */
function resolvedJoins(plan: SandboxPlan): SandboxPlan {
  const byName = new Map(plan.services.map((service) => [service.name, service]))
  const services = plan.services.map((service) => {
    let target = service.joins?.network
    for (let depth = 0; target !== undefined && depth < plan.services.length; depth++) {
      const next: string | undefined = byName.get(target)?.joins?.network
      if (next === undefined) break
      target = next
    }
    return target === undefined ? service : { ...service, joins: { ...service.joins, network: target } }
  })
  return { ...plan, services }
}

/**
 * The plan in which services reach of the outside what the list names, and nothing else. Every network is closed; a gateway
 * is put on those that were open; each service joins a network namespace that is held, and filtered, for it.
 */
export function allowListPlan(given: SandboxPlan, allow: readonly string[]): AllowListPlan {
  const open = new Set(openServices(given))
  const shown = given.services.length > 1 ? ` (${[...open].join(', ')})` : ''
  const reach = open.size > 0 ? `internet: only ${allow.join(', ')}${shown}` : 'internet: off'
  const siblings = aliasesOf(given)
  const hosts = allow.filter(
    (entry) => !entry.startsWith('*') && !IPV4.test(entry) && !siblings.includes(entry),
  )
  const { services, networks } = resolvedJoins(given)
  const attached = services.filter((service) => service.networks.length > 0)
  const used = new Set(attached.flatMap((service) => service.networks))
  const openNetworks = networks.flatMap(({ name, internal }) => (!internal && used.has(name) ? [name] : []))
  const surroundings = { held: new Set(attached.map(({ name }) => name)), open, siblings }
  const plan = {
    ...given,
    services: [
      ...(open.size > 0 ? [gatewayService(allow, openNetworks)] : []),
      ...attached.map((service) => holderService(service, open.has(service.name) ? hosts : [])),
      ...services.map((service) => closedService(service, surroundings)),
    ],
    networks: [...networks.map(closedNetwork), ...(open.size > 0 ? [WAY_OUT] : [])],
  }
  return { plan, reach, rewritings: rewritings(given) }
}

function rewritings({ services, networks }: SandboxPlan): string[] {
  const published = services.filter(
    ({ container }) => Object.keys((container.hostConfig.PortBindings ?? {}) as object).length > 0,
  )
  return [
    ...networks.flatMap(networkRewritings),
    ...published.map(({ name }) => `services.${name}.ports: not published under an allow-list`),
  ]
}
