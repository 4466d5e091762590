import type { ContainerPlan, EndpointPlan, NetworkPlan, ServicePlan } from '../sandbox-plan.ts'
import { GATEWAY, holderName } from './names.ts'

const PROGRAM = '/egress'
const UNPRIVILEGED = '65534:65534'
const MEBIBYTE = 2 ** 20

/** The gateway's way out, one for all sandboxes of a run, which cannot reach each other on it. */
export const WAY_OUT: NetworkPlan = {
  name: GATEWAY,
  internal: false,
  perRun: true,
  options: { 'com.docker.network.bridge.enable_icc': 'false' },
}

/** Keys of a container's body that go with its network namespace. */
const NETWORK_HOST_CONFIG = ['Dns', 'DnsOptions', 'DnsSearch', 'ExtraHosts']
const NETWORK_EXTRA = ['Hostname', 'Domainname']

function picked(from: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])))
}

function helper(
  command: readonly string[],
  fields: Pick<ContainerPlan, 'hostConfig' | 'extra'>,
): ContainerPlan {
  return {
    entrypoint: [PROGRAM],
    command,
    env: [],
    helper: true,
    hostConfig: {
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ...fields.hostConfig,
    },
    extra: {
      StopSignal: 'SIGKILL',
      StopTimeout: 0,
      Healthcheck: { Test: ['NONE'] },
      ...fields.extra,
    },
  }
}

function hook(...words: string[]): NonNullable<ServicePlan['hooks']> {
  return { postStart: [{ command: [PROGRAM, ...words], env: [], privileged: false }], preStop: [] }
}

/** The one container that is on the sandbox's networks and on one with a way out. It forwards no packets: it connects, to what is allowed. */
export function gatewayService(allow: readonly string[], networks: readonly string[]): ServicePlan {
  const endpoints = networks.map((name): [string, EndpointPlan] => [name, { Aliases: [GATEWAY] }])
  return {
    name: GATEWAY,
    image: { kind: 'egress' },
    container: {
      ...helper(['gateway', ...allow], {
        hostConfig: {
          ReadonlyRootfs: true,
          PidsLimit: 512,
          Memory: 256 * MEBIBYTE,
          Sysctls: { 'net.ipv4.ip_forward': '0', 'net.ipv4.ip_unprivileged_port_start': '0' },
        },
        extra: {},
      }),
      user: UNPRIVILEGED,
    },
    networks: [WAY_OUT.name, ...networks],
    endpoints: { [WAY_OUT.name]: { Aliases: [] }, ...Object.fromEntries(endpoints) },
    dependsOn: [],
    hooks: hook('ready'),
  }
}

/** `net.*` belongs to the network namespace, the rest to the service's own. */
function networkSysctls(service: ServicePlan): Record<string, unknown> {
  const sysctls = (service.container.hostConfig.Sysctls ?? {}) as Readonly<Record<string, unknown>>
  return Object.fromEntries(Object.entries(sysctls).filter(([name]) => name.startsWith('net.')))
}

/**
 * Holds the network namespace of a service, which joins it once the filter is in there: that can be neither removed from
 * the service nor lost when it restarts. `hosts` are those that the service reaches by their own names.
 */
export function holderService(service: ServicePlan, hosts: readonly string[]): ServicePlan {
  const { name, replicas, networks, endpoints, links = [] } = service
  const sysctls = networkSysctls(service)
  return {
    name: holderName(name),
    ...(replicas !== undefined && { replicas }),
    image: { kind: 'egress' },
    container: helper(['hold'], {
      hostConfig: {
        ...picked(service.container.hostConfig, NETWORK_HOST_CONFIG),
        ...(Object.keys(sysctls).length > 0 && { Sysctls: sysctls }),
        // To install the filter, and to try it.
        CapAdd: ['NET_ADMIN', 'NET_RAW'],
        PidsLimit: 32,
      },
      extra: picked(service.container.extra, NETWORK_EXTRA),
    }),
    networks,
    endpoints: endpoints ?? Object.fromEntries(networks.map((one) => [one, { Aliases: [name] }])),
    ...(links.length > 0 && {
      links: links.map(({ service: target, alias }) => ({ service: holderName(target), alias })),
    }),
    dependsOn: [],
    hooks: hook('seal', GATEWAY, ...hosts),
  }
}

const MOVED = new Set([...NETWORK_HOST_CONFIG, 'PortBindings', 'PublishAllPorts', 'Sysctls'])
const MOVED_EXTRA = new Set([...NETWORK_EXTRA, 'ExposedPorts'])

function without(
  from: Readonly<Record<string, unknown>>,
  keys: ReadonlySet<string>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !keys.has(key)))
}

/** What is left of a container's body where its network namespace is another's. */
export function withoutNetwork({ container }: ServicePlan): ContainerPlan {
  const { hostConfig } = container
  const all = (hostConfig.Sysctls ?? {}) as Readonly<Record<string, unknown>>
  const sysctls = Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('net.')))
  return {
    ...container,
    hostConfig: {
      ...without(hostConfig, MOVED),
      ...(Object.keys(sysctls).length > 0 && { Sysctls: sysctls }),
    },
    extra: without(container.extra, MOVED_EXTRA),
  }
}
