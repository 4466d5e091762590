import type Docker from 'dockerode'
import type { EndpointPlan, ServicePlan } from '../../sandbox-plan.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import type { Keeper } from './keeper.ts'

/** Working directory of a sandbox whose image and configuration name none. */
export const DEFAULT_WORKDIR = '/work'

export interface BodyContext {
  readonly image: PreparedImage
  readonly keeper: Keeper
  readonly containerName: string
  /** Of belljar's, and the service's. */
  readonly labels: Readonly<Record<string, string>>
  /** Real names by the plan's. */
  readonly networkNames: ReadonlyMap<string, string>
  readonly volumeNames: ReadonlyMap<string, string>
}

type Mount = Record<string, unknown>

function mounts(service: ServicePlan, context: BodyContext): Mount[] {
  const planned = (service.container.hostConfig.Mounts ?? []) as Mount[]
  const renamed = planned.map((mount) => {
    const name = context.volumeNames.get(String(mount.Source))
    return mount.Type === 'volume' && name ? { ...mount, Source: name } : mount
  })
  const taken = new Set(planned.map((mount) => mount.Target))
  const anonymous = context.image.volumes
    .filter((path) => !taken.has(path))
    .map((path) => ({ Type: 'volume', Target: path, VolumeOptions: { Labels: context.labels } }))
  return [...renamed, ...anonymous]
}

/** How a service takes part in a network: under its aliases and the container's own name. */
export function endpoint(
  service: ServicePlan,
  network: string,
  context: Pick<BodyContext, 'containerName'>,
): EndpointPlan {
  const planned = service.endpoints?.[network] ?? { Aliases: [service.name] }
  return { ...planned, Aliases: [...new Set([...planned.Aliases, context.containerName])] }
}

/** The body of the Engine's create call for one service. Only the first network can be named there on every engine. */
export function containerBody(service: ServicePlan, context: BodyContext): Docker.ContainerCreateOptions {
  const { container, networks } = service
  const workdir = container.workdir ?? (context.image.workdir || DEFAULT_WORKDIR)
  const first = networks[0]
  const firstName = first === undefined ? undefined : context.networkNames.get(first)
  const extraLabels = (container.extra.Labels ?? {}) as Record<string, string>
  const mounted = mounts(service, context)
  const body = {
    ...container.extra,
    ...context.keeper.body,
    Image: context.image.id,
    Env: container.env,
    ...(container.user !== undefined && { User: container.user }),
    WorkingDir: workdir,
    Labels: { ...extraLabels, ...context.labels },
    HostConfig: {
      ...container.hostConfig,
      ...(mounted.length > 0 && { Mounts: mounted }),
      ...(firstName && { NetworkMode: firstName }),
    },
    ...(first !== undefined &&
      firstName && {
        NetworkingConfig: { EndpointsConfig: { [firstName]: endpoint(service, first, context) } },
      }),
  }
  return body as unknown as Docker.ContainerCreateOptions
}
