import type { ContainerPlan, HookPlan, ServiceDependency, ServicePlan } from '../../sandbox-plan.ts'
import type { MapContext } from './context.ts'
import { parseGoDuration } from './durations.ts'
import { serviceNetworks } from './endpoints.ts'
import { serviceFiles } from './files.ts'
import { healthPlan } from './health.ts'
import { hostConfig } from './host-config.ts'
import { imagePlan } from './image.ts'
import { exposedPorts, portRewritings } from './ports.ts'
import type { ParsedProject } from './project.ts'
import type { ComposeProject } from './schema.ts'
import type { ComposeHook, ComposeService } from './schema-service.ts'

const CONDITIONS = {
  service_started: 'started',
  service_healthy: 'healthy',
  service_completed_successfully: 'completed',
} as const

/** A key without value takes nothing from the host: to the engine it means that the image's value is dropped. */
function environmentList(environment: ComposeService['environment']): string[] {
  return Object.entries(environment ?? {}).map(([key, value]) => (value === null ? key : `${key}=${value}`))
}

function withoutEmpty(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== undefined && (typeof value !== 'object' || Object.keys(value ?? {}).length > 0),
    ),
  )
}

function stopSeconds(service: ComposeService, place: string): number | undefined {
  if (service.stop_grace_period === undefined) return undefined
  return Math.trunc(parseGoDuration(service.stop_grace_period, `${place}.stop_grace_period`) / 1e9)
}

function containerPlan(
  name: string,
  { project, service, context }: { project: ComposeProject; service: ComposeService; context: MapContext },
): ContainerPlan {
  const place = `services.${name}`
  return {
    ...(service.entrypoint ? { entrypoint: service.entrypoint } : {}),
    ...(service.command ? { command: service.command } : {}),
    env: environmentList(service.environment),
    ...(service.user ? { user: service.user } : {}),
    ...(service.working_dir ? { workdir: service.working_dir } : {}),
    hostConfig: hostConfig(service, project, context),
    extra: withoutEmpty({
      Hostname: service.hostname,
      Domainname: service.domainname,
      ExposedPorts: exposedPorts(service),
      Tty: service.tty,
      OpenStdin: service.stdin_open,
      Labels: service.labels,
      StopSignal: service.stop_signal,
      StopTimeout: stopSeconds(service, place),
      Healthcheck: healthPlan(service.healthcheck, `${place}.healthcheck`),
    }),
  }
}

function dependencies(service: ComposeService, present: ReadonlySet<string>): ServiceDependency[] {
  return Object.entries(service.depends_on ?? {})
    .filter(([target]) => present.has(target))
    .map(([target, dependency]) => ({
      service: target,
      condition: CONDITIONS[dependency.condition],
      required: dependency.required ?? true,
    }))
}

function hookPlan(hook: ComposeHook): HookPlan {
  return {
    command: hook.command,
    env: environmentList(hook.environment),
    ...(hook.user ? { user: hook.user } : {}),
    ...(hook.working_dir ? { workdir: hook.working_dir } : {}),
    privileged: hook.privileged ?? false,
  }
}

function hooks(service: ComposeService): Pick<ServicePlan, 'hooks'> {
  const postStart = (service.post_start ?? []).map(hookPlan)
  const preStop = (service.pre_stop ?? []).map(hookPlan)
  return postStart.length + preStop.length > 0 ? { hooks: { postStart, preStop } } : {}
}

function joined(mode: string | undefined): string | undefined {
  return mode?.startsWith('service:') ? mode.slice('service:'.length) : undefined
}

function shared(service: ComposeService): Pick<ServicePlan, 'joins' | 'links' | 'volumesFrom'> {
  const joins = withoutEmpty({
    network: joined(service.network_mode),
    ipc: joined(service.ipc),
    pid: joined(service.pid),
  })
  const links = (service.links ?? []).map((link) => {
    const [target = '', alias = target] = link.split(':')
    return { service: target, alias }
  })
  const volumesFrom = (service.volumes_from ?? [])
    .filter((entry) => !entry.startsWith('container:'))
    .map((entry) => {
      const [target = '', mode] = entry.split(':')
      return { service: target, readOnly: mode === 'ro' }
    })
  return {
    ...(Object.keys(joins).length > 0 ? { joins } : {}),
    ...(links.length > 0 ? { links } : {}),
    ...(volumesFrom.length > 0 ? { volumesFrom } : {}),
  }
}

export function replicasOf(service: ComposeService): number {
  return service.scale ?? service.deploy?.replicas ?? 1
}

function noteRewritings(name: string, service: ComposeService, context: MapContext): void {
  if (service.container_name !== undefined) {
    context.rewritings.push(
      `services.${name}.container_name: each copy has a name of its own, '${service.container_name}' stays as an alias`,
    )
  }
  context.rewritings.push(...portRewritings(name, service))
  for (const [index, volume] of (service.volumes ?? []).entries()) {
    if (volume.type !== 'bind' || volume.read_only) continue
    context.rewritings.push(
      `services.${name}.volumes[${index}]: ${volume.source} stays one folder, which all copies may write to`,
    )
  }
}

export function servicePlan(
  name: string,
  { parsed, present, context }: { parsed: ParsedProject; present: ReadonlySet<string>; context: MapContext },
): ServicePlan | undefined {
  const { project } = parsed
  const service = project.services[name]
  if (service === undefined) return undefined
  noteRewritings(name, service, context)
  const { networks, endpoints, networkMode } = serviceNetworks(name, service, context)
  const container = containerPlan(name, { project, service, context })
  const files = serviceFiles(service, project, context)
  const replicas = replicasOf(service)
  return {
    name,
    ...(replicas === 1 ? {} : { replicas }),
    image: imagePlan(name, parsed, context),
    container:
      networkMode === undefined
        ? container
        : { ...container, hostConfig: { ...container.hostConfig, NetworkMode: networkMode } },
    networks,
    ...(networks.length > 0 ? { endpoints } : {}),
    dependsOn: dependencies(service, present),
    ...shared(service),
    ...(files.length > 0 ? { files } : {}),
    ...hooks(service),
  }
}
