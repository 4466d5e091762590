import type { EndpointPlan } from '../../sandbox-plan.ts'
import type { MapContext } from './context.ts'
import type { ComposeService } from './schema-service.ts'

type Attachment = NonNullable<ComposeService['networks']>[string]

export interface ServiceNetworks {
  readonly networks: readonly string[]
  readonly endpoints: Readonly<Record<string, EndpointPlan>>
  readonly joins?: { readonly network: string }
  /** Set where the container is on no network of the plan. */
  readonly networkMode?: string
}

/** The mode of a service that names, in place of networks, one that exists on the host: its copy gets a private one. */
export function hostNetworkName(service: ComposeService): string | undefined {
  const mode = service.network_mode
  if (mode === undefined || mode === 'none' || mode === 'host') return undefined
  return mode.startsWith('service:') || mode.startsWith('container:') ? undefined : mode
}

const INTERFACE_NAME = 'com.docker.network.endpoint.ifname'

function endpoint(service: ComposeService, attachment: Attachment, aliases: readonly string[]): EndpointPlan {
  const driverOptions = {
    ...attachment?.driver_opts,
    ...(attachment?.interface_name ? { [INTERFACE_NAME]: attachment.interface_name } : {}),
  }
  const mac = attachment?.mac_address ?? service.mac_address
  return {
    Aliases: [...new Set([...aliases, ...(attachment?.aliases ?? [])])],
    ...(mac ? { MacAddress: mac } : {}),
    ...(Object.keys(driverOptions).length > 0 ? { DriverOpts: driverOptions } : {}),
    ...(attachment?.gw_priority ? { GwPriority: attachment.gw_priority } : {}),
    ...(attachment?.link_local_ips ? { IPAMConfig: { LinkLocalIPs: attachment.link_local_ips } } : {}),
  }
}

function byPriority(networks: Readonly<Record<string, Attachment>>): [string, Attachment][] {
  return Object.entries(networks).sort(
    ([nameA, a], [nameB, b]) => (b?.priority ?? 0) - (a?.priority ?? 0) || (nameA < nameB ? -1 : 1),
  )
}

function noteAddresses(name: string, service: ComposeService, context: MapContext): void {
  for (const [network, attachment] of Object.entries(service.networks ?? {})) {
    for (const key of ['ipv4_address', 'ipv6_address'] as const) {
      const address = attachment?.[key]
      if (address === undefined) continue
      context.rewritings.push(
        `services.${name}.networks.${network}.${key}: ${address} is not kept, each copy has addresses of its own`,
      )
    }
  }
}

/** A MAC address of the service itself belongs to its first network. */
function attachedNetworks(name: string, service: ComposeService): ServiceNetworks {
  const aliases = [name, ...(service.container_name ? [service.container_name] : [])]
  const attached = byPriority(service.networks ?? { default: null })
  const { mac_address: _, ...others } = service
  return {
    networks: attached.map(([network]) => network),
    endpoints: Object.fromEntries(
      attached.map(([network, attachment], index) => [
        network,
        endpoint(index === 0 ? service : others, attachment, aliases),
      ]),
    ),
  }
}

export function serviceNetworks(name: string, service: ComposeService, context: MapContext): ServiceNetworks {
  const mode = service.network_mode
  if (mode === undefined) {
    noteAddresses(name, service, context)
    return attachedNetworks(name, service)
  }
  if (mode.startsWith('service:')) {
    return { networks: [], endpoints: {}, joins: { network: mode.slice('service:'.length) } }
  }
  const onHost = hostNetworkName(service)
  if (onHost === undefined) return { networks: [], endpoints: {}, networkMode: mode }
  context.rewritings.push(
    `services.${name}.network_mode: '${mode}' is shared by the whole host, each copy has a private network in its place`,
  )
  return attachedNetworks(name, { ...service, networks: { [onHost]: null } })
}
