import { randomBytes } from 'node:crypto'
import type Docker from 'dockerode'
import type { SandboxPlan, ServicePlan } from '../../../src/sandbox/sandbox-plan.ts'
import { uniqueLocalSubnet } from '../../../src/sandbox/subnets.ts'

interface Made {
  readonly project: string
  readonly plan: SandboxPlan
  readonly docker: Docker
  /** Ids by container name. */
  readonly ids: Map<string, string>
}

function containerNames(made: Made, service: string): string[] {
  const replicas = made.plan.services.find((other) => other.name === service)?.replicas ?? 1
  return Array.from({ length: replicas }, (_, index) => `${made.project}-${service}-${index + 1}`)
}

function idOf(made: Made, service: string): string {
  return made.ids.get(containerNames(made, service)[0] ?? '') ?? ''
}

/** Anything mounted as a volume that the plan names, under the copy's own name. */
function mountsOf(made: Made, service: ServicePlan): Record<string, unknown>[] {
  const mounts = (service.container.hostConfig.Mounts ?? []) as Record<string, unknown>[]
  return mounts.map((mount) =>
    mount.Type === 'volume' && mount.Source ? { ...mount, Source: `${made.project}_${mount.Source}` } : mount,
  )
}

function hostConfigOf(made: Made, service: ServicePlan): Record<string, unknown> {
  const { joins } = service
  const [first] = service.networks
  const mode = first === undefined ? {} : { NetworkMode: `${made.project}_${first}` }
  const volumesFrom = (service.volumesFrom ?? []).flatMap((entry) =>
    containerNames(made, entry.service).map((name) => `${name}${entry.readOnly ? ':ro' : ''}`),
  )
  return {
    ...service.container.hostConfig,
    ...mode,
    VolumesFrom: volumesFrom,
    ...(service.container.hostConfig.Mounts ? { Mounts: mountsOf(made, service) } : {}),
    ...(joins?.network ? { NetworkMode: `container:${idOf(made, joins.network)}` } : {}),
    ...(joins?.ipc ? { IpcMode: `container:${idOf(made, joins.ipc)}` } : {}),
    ...(joins?.pid ? { PidMode: `container:${idOf(made, joins.pid)}` } : {}),
  }
}

function endpointsOf(made: Made, service: ServicePlan, name: string): Record<string, unknown> {
  const links = (service.links ?? []).flatMap(({ service: target, alias }) =>
    containerNames(made, target).flatMap((container, index) => [
      `${container}:${alias}`,
      `${container}:${target}-${index + 1}`,
      `${container}:${container}`,
    ]),
  )
  return Object.fromEntries(
    service.networks.map((network) => {
      const endpoint = service.endpoints?.[network]
      const aliases = [name, ...(endpoint?.Aliases ?? [])]
      return [`${made.project}_${network}`, { ...endpoint, Aliases: aliases, Links: links }]
    }),
  )
}

function bodyOf(made: Made, service: ServicePlan, name: string): Record<string, unknown> {
  const { container, image } = service
  if (image.kind !== 'reference') throw new Error('the corpus of this test has no builds')
  return {
    ...container.extra,
    Image: image.reference,
    Env: container.env,
    AttachStdout: true,
    AttachStderr: true,
    ...(container.entrypoint === undefined ? {} : { Entrypoint: container.entrypoint }),
    ...(container.command === undefined || container.command === null ? {} : { Cmd: container.command }),
    ...(container.user === undefined ? {} : { User: container.user }),
    ...(container.workdir === undefined ? {} : { WorkingDir: container.workdir }),
    HostConfig: hostConfigOf(made, service),
    NetworkingConfig: { EndpointsConfig: endpointsOf(made, service, name) },
  }
}

async function makeNetworks({ project, plan, docker }: Made): Promise<void> {
  const inUse = new Set(plan.services.flatMap((service) => service.networks))
  for (const network of plan.networks.filter(({ name }) => inUse.has(name))) {
    await docker.createNetwork({
      Name: `${project}_${network.name}`,
      Driver: network.driver ?? 'bridge',
      Internal: network.internal,
      Attachable: network.attachable ?? false,
      EnableIPv6: network.ipv6 ?? false,
      ...(network.ipv6 ? { IPAM: { Config: [{ Subnet: uniqueLocalSubnet(randomBytes(7)) }] } } : {}),
      Options: { ...network.options },
      Labels: { ...network.labels, 'com.docker.compose.project': project },
    })
  }
}

async function makeVolumes({ project, plan, docker }: Made): Promise<void> {
  for (const volume of plan.volumes) {
    await docker.createVolume({
      Name: `${project}_${volume.name}`,
      Driver: volume.driver ?? 'local',
      DriverOpts: { ...volume.options },
      Labels: { ...volume.labels, 'com.docker.compose.project': project },
    })
  }
}

/** Creates, without starting it, what a plan describes, with names as Compose would give them. */
export async function makeFromPlan(docker: Docker, project: string, plan: SandboxPlan): Promise<void> {
  const made: Made = { project, plan, docker, ids: new Map() }
  await makeNetworks(made)
  await makeVolumes(made)
  for (const service of plan.services) {
    for (const name of containerNames(made, service.name)) {
      const body = bodyOf(made, service, name)
      const labels = { ...(body.Labels as object), 'com.docker.compose.project': project }
      const container = await docker.createContainer({ ...body, name, Labels: labels })
      made.ids.set(name, container.id)
    }
  }
}
