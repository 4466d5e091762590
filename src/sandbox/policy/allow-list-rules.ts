import { basename } from 'node:path'
import { isReservedName } from '../egress/names.ts'
import type { ContainerPlan, NetworkPlan, SandboxPlan, ServicePlan } from '../sandbox-plan.ts'

/** Of Docker's default set; NET_RAW, which is in it too, writes frames past any filter. */
const HARMLESS_CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

const FILTERED_RUNTIMES = /^(io\.containerd\.runc\.v2|runc|crun|youki)$/
const HOST_FOLDERS = new Set(['/', '/dev', '/proc', '/run', '/sys', '/var', '/var/run'])

/** Whether the packets of its containers pass through the network namespace in which the filter is. */
export function isFilteredRuntime(runtime: string): boolean {
  return FILTERED_RUNTIMES.test(runtime)
}

type HostConfig = ContainerPlan['hostConfig']

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function privileges({
  hostConfig,
  hooks,
}: {
  hostConfig: HostConfig
  hooks: ServicePlan['hooks']
}): string[] {
  const capabilities = listOf(hostConfig.CapAdd).map((name) =>
    String(name).toUpperCase().replace(/^CAP_/, ''),
  )
  const isPrivileged = [...(hooks?.postStart ?? []), ...(hooks?.preStop ?? [])].some(
    (hook) => hook.privileged,
  )
  return [
    ...(hostConfig.Privileged === true ? ['privileged'] : []),
    ...(isPrivileged ? ['a privileged hook'] : []),
    ...capabilities
      .filter((name) => !HARMLESS_CAPABILITIES.has(name))
      .map((name) => `the capability ${name}`),
    ...(listOf(hostConfig.Devices).length > 0 ? ['devices of the host'] : []),
    ...(listOf(hostConfig.DeviceCgroupRules).length > 0 ? ['device_cgroup_rules'] : []),
    ...(hostConfig.ReadonlyPaths !== undefined ? ['security_opt systempaths=unconfined'] : []),
  ]
}

function namespaces(hostConfig: HostConfig): string[] {
  return (['NetworkMode', 'PidMode', 'IpcMode', 'UsernsMode'] as const).flatMap((key) => {
    const mode = String(hostConfig[key] ?? '')
    const isOutside = mode === 'host' || mode.startsWith('container:')
    return isOutside ? [`the ${key.replace(/Mode$/, '').toLowerCase()} namespace '${mode}'`] : []
  })
}

/** Sockets of the host, and folders in which there are some. */
function binds(hostConfig: HostConfig): string[] {
  const mounts = listOf(hostConfig.Mounts) as readonly { Type?: string; Source?: string }[]
  const sources = [
    ...listOf(hostConfig.Binds).map((bind) => String(bind).split(':')[0] ?? ''),
    ...mounts.flatMap(({ Type, Source = '' }) => (Type === 'bind' ? [Source] : [])),
  ]
  return sources
    .filter(
      (source) => HOST_FOLDERS.has(source.replace(/(?<=.)\/+$/, '')) || basename(source).endsWith('.sock'),
    )
    .map((source) => `the bind mount of ${source}`)
}

function settings({ container: { hostConfig }, endpoints = {} }: ServicePlan): string[] {
  const sysctls = Object.keys((hostConfig.Sysctls ?? {}) as object).filter((name) =>
    /^net\.(ipv6\.|ipv4\.(ip_forward|conf\.))/.test(name),
  )
  const { Runtime } = hostConfig
  const isFiltered = Runtime === undefined || isFilteredRuntime(String(Runtime))
  return [
    ...sysctls.map((name) => `the sysctl ${name}`),
    ...(isFiltered ? [] : [`the runtime '${String(Runtime)}', whose packets no filter sees`]),
    ...Object.values(endpoints).flatMap(({ DriverOpts, IPAMConfig }) => [
      ...(DriverOpts ? ['driver_opts of an endpoint'] : []),
      ...(IPAMConfig ? ['link_local_ips'] : []),
    ]),
  ]
}

function serviceRefusals(service: ServicePlan): string[] {
  const { hostConfig } = service.container
  const found = [
    ...(isReservedName(service.name) ? ["a name of belljar's own"] : []),
    ...privileges({ hostConfig, hooks: service.hooks }),
    ...namespaces(hostConfig),
    ...binds(hostConfig),
    ...settings(service),
  ]
  const place = `services.${service.name}`
  const isNowhere =
    service.networks.length === 0 && !service.joins?.network && hostConfig.NetworkMode !== 'none'
  return [...found, ...(isNowhere && found.length === 0 ? ["the engine's own network"] : [])].map(
    (what) => `${place}: ${what}`,
  )
}

function networkRefusals({ name, driver = 'bridge' }: NetworkPlan): string[] {
  return [
    ...(driver === 'bridge' ? [] : [`networks.${name}: the driver '${driver}'`]),
    ...(isReservedName(name) ? [`networks.${name}: a name of belljar's own`] : []),
  ]
}

/** What of a plan would let it past a network allow-list. No name in `allow` unlocks any of it. */
export function allowListRefusals(plan: SandboxPlan): string[] {
  return [...plan.services.flatMap(serviceRefusals), ...plan.networks.flatMap(networkRefusals)]
}
