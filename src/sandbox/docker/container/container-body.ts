import type Docker from 'dockerode'
import type { ServicePlan } from '../../sandbox-plan.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import type { Keeper } from './keeper.ts'

/** Working directory of a sandbox of a single image that names none, nor its configuration. */
export const DEFAULT_WORKDIR = '/work'

export interface BodyContext {
  readonly image: PreparedImage
  readonly keeper: Keeper
  /** Of belljar's, and the service's. */
  readonly labels: Readonly<Record<string, string>>
  /** Real names by the plan's. */
  readonly volumeNames: ReadonlyMap<string, string>
  /** Of the guest, where it comes in. */
  readonly guestMount?: Mount | undefined
}

type Mount = Readonly<Record<string, unknown>>

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
  return [...renamed, ...anonymous, ...(context.guestMount ? [context.guestMount] : [])]
}

/** Whether belljar chooses the working directory: a compose file means what it says, also where it says nothing. */
export function needsDefaultWorkdir({ container }: ServicePlan, image: PreparedImage): boolean {
  return container.command === null && container.workdir === undefined && image.workdir === ''
}

/** Where commands of a service start. */
export function workdirOf(service: ServicePlan, image: PreparedImage): string {
  if (needsDefaultWorkdir(service, image)) return DEFAULT_WORKDIR
  return service.container.workdir ?? (image.workdir || '/')
}

/** The body of the Engine's create call for one service, less its networks and what it shares with other services. */
export function containerBody(service: ServicePlan, context: BodyContext): Docker.ContainerCreateOptions {
  const { container } = service
  const workdir = needsDefaultWorkdir(service, context.image) ? DEFAULT_WORKDIR : container.workdir
  const extraLabels = (container.extra.Labels ?? {}) as Record<string, string>
  const mounted = mounts(service, context)
  const body = {
    ...container.extra,
    Image: context.image.id,
    Env: container.env,
    ...(container.user !== undefined && { User: container.user }),
    ...context.keeper.body,
    ...(workdir !== undefined && { WorkingDir: workdir }),
    Labels: { ...extraLabels, ...context.labels },
    HostConfig: {
      ...container.hostConfig,
      ...context.keeper.hostConfig,
      ...(mounted.length > 0 && { Mounts: mounted }),
    },
  }
  return body as unknown as Docker.ContainerCreateOptions
}
