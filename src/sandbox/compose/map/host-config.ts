import type { MapContext } from './context.ts'
import { serviceMounts } from './mounts.ts'
import { portBindings } from './ports.ts'
import { resources } from './resources.ts'
import type { ComposeProject } from './schema.ts'
import type { ComposeService } from './schema-service.ts'

const RESTART_CONDITIONS: Readonly<Record<string, string>> = { none: 'no', any: 'always' }

function restartPolicy(service: ComposeService): Record<string, unknown> | undefined {
  const { condition, max_attempts } = service.deploy?.restart_policy ?? {}
  const [old, attempts] = (service.restart ?? '').split(':')
  const written = service.deploy?.restart_policy === undefined ? old : (condition ?? 'any')
  if (!written) return undefined
  const count = service.deploy?.restart_policy === undefined ? Number(attempts ?? 0) : (max_attempts ?? 0)
  return {
    Name: RESTART_CONDITIONS[written] ?? written,
    ...(count > 0 ? { MaximumRetryCount: count } : {}),
  }
}

/** The host part and the name of a `security_opt` entry, which may be written with `=` or `:`. */
export function securityOption(written: string): { name: string; value: string } {
  const separator = written.search(/[=:]/)
  if (separator < 0) return { name: written, value: '' }
  return { name: written.slice(0, separator), value: written.slice(separator + 1) }
}

export function seccompFile(written: string): string | undefined {
  const { name, value } = securityOption(written)
  return name === 'seccomp' && value !== 'unconfined' && value !== 'builtin' ? value : undefined
}

function security(service: ComposeService, context: MapContext): Record<string, unknown> {
  const options = service.security_opt ?? []
  const unmasked = options.some((option) => securityOption(option).name === 'systempaths')
  const passed = options
    .filter((option) => securityOption(option).name !== 'systempaths')
    .map((option) => {
      const file = seccompFile(option)
      return file === undefined ? option : `seccomp=${context.seccompProfiles.get(file) ?? ''}`
    })
  return {
    SecurityOpt: passed.length > 0 ? passed : undefined,
    ...(unmasked ? { MaskedPaths: [], ReadonlyPaths: [] } : {}),
  }
}

/** As the engine itself names it. */
function capability(written: string): string {
  const name = written.toUpperCase()
  return name === 'ALL' || name.startsWith('CAP_') ? name : `CAP_${name}`
}

/** `service:` namespaces become joins of the plan. */
function namespace(mode: string | undefined): string | undefined {
  return mode?.startsWith('service:') ? undefined : mode
}

function logConfig(service: ComposeService) {
  if (service.logging === undefined) return undefined
  return { Type: service.logging.driver ?? '', Config: service.logging.options ?? {} }
}

function withoutEmpty(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => {
      if (value === undefined) return false
      const isPaths = key === 'MaskedPaths' || key === 'ReadonlyPaths'
      return isPaths || typeof value !== 'object' || value === null || Object.keys(value).length > 0
    }),
  )
}

export function hostConfig(
  service: ComposeService,
  project: ComposeProject,
  context: MapContext,
): Record<string, unknown> {
  return withoutEmpty({
    ...resources(service),
    ...serviceMounts(service, project, context),
    ...security(service, context),
    Annotations: service.annotations,
    CapAdd: service.cap_add?.map(capability),
    CapDrop: service.cap_drop?.map(capability),
    CgroupnsMode: service.cgroup,
    Dns: service.dns,
    DnsOptions: service.dns_opt,
    DnsSearch: service.dns_search,
    ExtraHosts: service.extra_hosts?.map((host) => host.replace('=', ':')),
    GroupAdd: service.group_add,
    Init: service.init,
    IpcMode: namespace(service.ipc),
    Isolation: service.isolation,
    LogConfig: logConfig(service),
    PidMode: namespace(service.pid),
    PortBindings: portBindings(service),
    Privileged: service.privileged,
    ReadonlyRootfs: service.read_only,
    RestartPolicy: restartPolicy(service),
    Runtime: service.runtime,
    StorageOpt: service.storage_opt,
    Sysctls: service.sysctls,
    UTSMode: service.uts,
    UsernsMode: service.userns_mode,
  })
}
