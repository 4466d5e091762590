import { definedOnly } from '../../../util/defined-only.ts'
import type { BuildPlan, BuildxPlan } from '../../sandbox-plan.ts'
import type { MapContext } from './context.ts'
import { sourceContent } from './files.ts'
import { ulimitList } from './resources.ts'
import type { ComposeProject } from './schema.ts'
import type { ComposeBuild } from './schema-build.ts'

function buildOptions(build: ComposeBuild): BuildPlan['options'] | undefined {
  const options = definedOnly({
    labels: build.labels,
    nocache: build.no_cache,
    pull: build.pull,
    extrahosts: build.extra_hosts?.map((host) => host.replace('=', ':')),
    shmsize: build.shm_size,
    networkmode: build.network,
    cachefrom: build.cache_from,
  })
  return Object.keys(options).length > 0 ? options : undefined
}

function buildSecrets(build: ComposeBuild, project: ComposeProject, context: MapContext) {
  return (build.secrets ?? []).map((reference) => {
    const id = reference.target?.split('/').at(-1) ?? reference.source
    const source = project.secrets?.[reference.source]
    if (source?.file !== undefined) return { id, file: source.file }
    const value = source === undefined ? undefined : sourceContent(source, context.environment)
    if (value === undefined) {
      context.inexpressible.push(`secrets.${reference.source}: no value for the build that uses it`)
    }
    return { id, value: value ?? '' }
  })
}

function sshEntries(ssh: ComposeBuild['ssh']): string[] {
  if (ssh === undefined || Array.isArray(ssh)) return ssh ?? []
  return Object.entries(ssh).map(([id, path]) => (path ? `${id}=${path}` : id))
}

function buildxPlan(
  build: ComposeBuild,
  project: ComposeProject,
  context: MapContext,
): BuildxPlan | undefined {
  const plan = {
    secrets: buildSecrets(build, project, context),
    ssh: sshEntries(build.ssh),
    contexts: build.additional_contexts ?? {},
    ulimits: ulimitList(build.ulimits).map(({ Name, Soft, Hard }) => `${Name}=${Soft}:${Hard}`),
    allow: [...(build.entitlements ?? []), ...(build.privileged ? ['security.insecure'] : [])],
    cacheTo: build.cache_to ?? [],
    ...(build.provenance ? { provenance: build.provenance } : {}),
    ...(build.sbom ? { sbom: build.sbom } : {}),
  }
  const used = Object.values(plan).some((value) => Object.keys(value).length > 0 && value !== 'false')
  return used ? plan : undefined
}

function givenArguments(args: ComposeBuild['args']): Record<string, string> {
  const entries = Object.entries(args ?? {})
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null))
}

/** `platform` of the service chooses among several of the build's. */
function buildPlatform(
  build: ComposeBuild,
  { platform, place, context }: { platform: string | undefined; place: string; context: MapContext },
): string | undefined {
  const [first, ...others] = build.platforms ?? []
  if (platform === undefined && others.length > 0) {
    context.inexpressible.push(
      `${place}.platforms: more than one, and the service's platform does not choose`,
    )
  }
  return platform ?? first
}

export function buildPlan(
  build: ComposeBuild,
  {
    platform,
    place,
    project,
    context,
  }: { platform: string | undefined; place: string; project: ComposeProject; context: MapContext },
): BuildPlan {
  const chosen = buildPlatform(build, { platform, place, context })
  const options = buildOptions(build)
  const buildx = buildxPlan(build, project, context)
  return {
    context: build.context ?? '.',
    dockerfile: build.dockerfile ?? 'Dockerfile',
    ...(build.dockerfile_inline === undefined ? {} : { dockerfileInline: build.dockerfile_inline }),
    args: givenArguments(build.args),
    ...(build.target ? { target: build.target } : {}),
    ...(chosen ? { platform: chosen } : {}),
    ...(options ? { options } : {}),
    ...(buildx ? { buildx } : {}),
  }
}
