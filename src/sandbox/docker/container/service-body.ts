import type Docker from 'dockerode'
import type { SandboxPlan, ServicePlan } from '../../sandbox-plan.ts'
import { type BodyContext, containerBody } from './container-body.ts'
import type { Endpoint } from './endpoints.ts'

export interface ServiceBodyContext extends BodyContext {
  readonly plan: SandboxPlan
  readonly endpoints: readonly [string, Endpoint][]
  /** From 1. */
  readonly number: number
  /** Ids of containers that exist already, by service. */
  readonly containerIds: (service: string) => readonly string[]
}

/** A container that writes without end must not fill the host's disk; a file that says how to log is followed. */
const LOG_CONFIG = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '1' } }

function volumesFrom(service: ServicePlan, context: ServiceBodyContext): string[] {
  return (service.volumesFrom ?? []).flatMap(({ service: target, readOnly }) =>
    context.containerIds(target).map((id) => (readOnly ? `${id}:ro` : id)),
  )
}

function namespaces(service: ServicePlan, context: ServiceBodyContext): Record<string, string> {
  const [first] = context.endpoints
  const { joins = {} } = service
  const container = (target: string, number = 1) =>
    `container:${context.containerIds(target)[number - 1] ?? ''}`
  const holder = service.joinsByNumber ? context.number : 1
  const isJoined = context.plan.services.some((other) => other.joins?.ipc === service.name)
  const isPrivate = service.container.hostConfig.IpcMode === undefined
  return {
    ...(first && { NetworkMode: first[0] }),
    ...(joins.network !== undefined && { NetworkMode: container(joins.network, holder) }),
    // What others join must be shareable, which is not the engine's default.
    ...(isJoined && isPrivate && { IpcMode: 'shareable' }),
    ...(joins.ipc !== undefined && { IpcMode: container(joins.ipc) }),
    ...(joins.pid !== undefined && { PidMode: container(joins.pid) }),
  }
}

/** The body of the create call of one container of a service, with its networks and what it shares with others. */
export function serviceBody(
  service: ServicePlan,
  context: ServiceBodyContext,
): Docker.ContainerCreateOptions {
  const body = containerBody(service, context)
  const shared = volumesFrom(service, context)
  const endpoints = Object.fromEntries(context.endpoints) as unknown as Docker.EndpointsConfig
  return {
    ...body,
    HostConfig: {
      LogConfig: LOG_CONFIG,
      ...body.HostConfig,
      ...namespaces(service, context),
      ...(shared.length > 0 && { VolumesFrom: shared }),
    },
    ...(context.endpoints.length > 0 && { NetworkingConfig: { EndpointsConfig: endpoints } }),
  }
}
