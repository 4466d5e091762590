import type { ComposeNetwork, ComposeProject } from '../compose/map/index.ts'
import type { Refusal } from './refusal.ts'

const HARMLESS_OPTIONS = new Set([
  'com.docker.network.bridge.name',
  'com.docker.network.bridge.enable_icc',
  'com.docker.network.bridge.enable_ip_masquerade',
  'com.docker.network.bridge.inhibit_ipv4',
  'com.docker.network.container_iface_prefix',
  'com.docker.network.container_interface_prefix',
  'com.docker.network.driver.mtu',
])

function networkRefusals(key: string, network: NonNullable<ComposeNetwork>): Refusal[] {
  const place = `networks.${key}`
  if (network.external) {
    return network.name === 'host' ? [{ place, why: "the host's network", allow: 'host-network' }] : []
  }
  const driver = network.driver ?? 'bridge'
  const options = Object.keys(network.driver_opts ?? {}).filter((option) => !HARMLESS_OPTIONS.has(option))
  const ipam = network.ipam?.driver ?? 'default'
  return [
    ...(driver === 'bridge'
      ? []
      : [
          {
            place: `${place}.driver`,
            why: `a network that is not private (${driver})`,
            allow: `network-driver:${driver}`,
          },
        ]),
    ...(ipam === 'default'
      ? []
      : [
          {
            place: `${place}.ipam.driver`,
            why: `an address plugin (${ipam})`,
            allow: `network-driver:${ipam}`,
          },
        ]),
    ...options.map((option) => ({
      place: `${place}.driver_opts.${option}`,
      why: 'a network option that may reach outside',
      allow: `network-option:${option}`,
    })),
  ]
}

export function projectNetworkRefusals(project: ComposeProject): Refusal[] {
  return Object.entries(project.networks ?? {}).flatMap(([key, network]) =>
    network === null ? [] : networkRefusals(key, network),
  )
}
