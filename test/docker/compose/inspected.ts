import type Docker from 'dockerode'

type Fields = Record<string, unknown>

/** Two names may have become one. */
function aliasesOnce(key: string, value: unknown): unknown {
  return key === 'Aliases' && Array.isArray(value) ? [...new Set(value)].sort() : value
}

const LABEL = 'com.docker.compose.project'

function byProject(project: string) {
  return { filters: { label: [`${LABEL}=${project}`] } }
}

/** What differs between any two containers, or is decided by the engine. */
const VARYING = new Set([
  'Id',
  'Created',
  'State',
  'ResolvConfPath',
  'HostnamePath',
  'HostsPath',
  'LogPath',
  'GraphDriver',
  'NetworkID',
  'DNSNames',
  'SandboxID',
  'SandboxKey',
  'Mode',
])

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '' || value === 0) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** Absent, null, zero and empty are one to the engine in nearly every field; where they are not, `kept` says so. */
function normalised(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => normalised(item, key))
    return ORDERED.has(key) ? items : items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([name, item]) => !VARYING.has(name) && (KEPT.has(name) || !isEmpty(item)))
    .map(([name, item]) => [name, normalised(item, name)] as const)
    .filter(([, item]) => !isEmpty(item))
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const ORDERED = new Set(['Cmd', 'Entrypoint', 'Args', 'Test', 'Dns', 'DnsSearch'])
const KEPT = new Set(['MaskedPaths', 'ReadonlyPaths', 'Init'])

function withoutLabels(labels: unknown): Fields {
  return Object.fromEntries(
    Object.entries((labels ?? {}) as Fields).filter(([label]) => !label.startsWith('com.docker.compose.')),
  )
}

function named(text: string, names: ReadonlyMap<string, string>): string {
  let result = text.replace(/\b[0-9a-f]{64}\b/g, (id) => names.get(id) ?? 'ANONYMOUS')
  for (const [from, to] of names) result = result.replaceAll(from, to)
  return result
}

/** Compose mounts volumes in the old form, a plan in the new one. */
function volumesInOneForm(host: Fields): Fields {
  const isVolume = (bind: unknown) => !String(bind).startsWith('/')
  const binds = (host.Binds ?? []) as string[]
  const fromBinds = binds.filter(isVolume).map((bind) => {
    const [Source, Target, mode = ''] = bind.split(':')
    const options = mode.includes('nocopy') ? { VolumeOptions: { NoCopy: true } } : {}
    return { Type: 'volume', Source, Target, ReadOnly: mode.split(',').includes('ro'), ...options }
  })
  const mounts = [...((host.Mounts ?? []) as Fields[]), ...fromBinds]
  return { ...host, Binds: binds.filter((bind) => !isVolume(bind)), Mounts: mounts }
}

/** Published ports are rewritten on purpose: only which container ports are published is compared. */
function comparable(inspected: Fields): Fields {
  const config = { ...(inspected.Config as Fields) }
  const host = { ...(inspected.HostConfig as Fields) }
  config.Labels = withoutLabels(config.Labels)
  if (config.Hostname === String(inspected.Id).slice(0, 12)) delete config.Hostname
  host.PortBindings = Object.keys((host.PortBindings ?? {}) as object)
  const networks = ((inspected.NetworkSettings as Fields).Networks ?? {}) as Record<string, Fields>
  const endpoints = Object.fromEntries(
    Object.entries(networks).map(([name, endpoint]) => {
      const ipam = { ...(endpoint.IPAMConfig as Fields) }
      delete ipam.IPv4Address
      return [name, { ...endpoint, IPAMConfig: ipam, IPAddress: '' }]
    }),
  )
  return {
    ...inspected,
    Config: { ...config, Image: undefined },
    HostConfig: volumesInOneForm(host),
    NetworkSettings: { Networks: endpoints },
  }
}

export interface Snapshot {
  readonly containers: Readonly<Record<string, unknown>>
  readonly networks: Readonly<Record<string, unknown>>
  readonly volumes: Readonly<Record<string, unknown>>
}

async function containersOf(docker: Docker, project: string, names: Map<string, string>): Promise<Fields[]> {
  const list = await docker.listContainers({ all: true, ...byProject(project) })
  const inspected = await Promise.all(list.map(({ Id }) => docker.getContainer(Id).inspect()))
  for (const { Id, Name } of inspected) {
    names.set(Id, Name.slice(1))
    names.set(Id.slice(0, 12), Name.slice(1))
  }
  return inspected as unknown as Fields[]
}

/** Everything of a project, in a form in which two equal projects are equal. `fixed` names stand for the copy's own. */
export async function snapshot(
  docker: Docker,
  project: string,
  fixed: ReadonlyMap<string, string>,
): Promise<Snapshot> {
  const ids = new Map<string, string>()
  const containers = await containersOf(docker, project, ids)
  const names = new Map([...ids, ...fixed, [project, 'PROJECT']])
  const clean = (value: unknown) =>
    JSON.parse(named(JSON.stringify(normalised(value, '')), names), aliasesOnce) as Fields
  const keyed = (entries: [string, unknown][]) =>
    Object.fromEntries(entries.map(([name, value]) => [named(name, names), clean(value)]))
  const networks = await docker.listNetworks(byProject(project))
  const volumes = (await docker.listVolumes(byProject(project))).Volumes ?? []
  return {
    containers: keyed(containers.map((item) => [String(item.Name), comparable(item)])),
    networks: keyed(
      networks.map(({ Name, Driver, Internal, Attachable, EnableIPv6, Options, Labels }) => [
        Name,
        { Driver, Internal, Attachable, EnableIPv6, Options, Labels: withoutLabels(Labels) },
      ]),
    ),
    volumes: keyed(
      volumes.map(({ Name, Driver, Options, Labels }) => [
        Name,
        { Driver, Options, Labels: withoutLabels(Labels) },
      ]),
    ),
  }
}

export async function removeProject(docker: Docker, project: string): Promise<void> {
  const containers = await docker.listContainers({ all: true, ...byProject(project) })
  await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })))
  const networks = await docker.listNetworks(byProject(project))
  await Promise.all(networks.map(({ Id }) => docker.getNetwork(Id).remove()))
  const volumes = (await docker.listVolumes(byProject(project))).Volumes ?? []
  await Promise.all(volumes.map(({ Name }) => docker.getVolume(Name).remove()))
}
