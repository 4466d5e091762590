import { resolve } from 'node:path'
import type { HostPath, HostPathUse } from '../policy/refusal.ts'
import { volumeBindSource } from '../policy/volume-rules.ts'
import type { ComposeProject, ComposeService } from './map/index.ts'
import { isRemote } from './read/named-paths.ts'
import { realPath } from './read/paths.ts'

interface Found {
  readonly place: string
  readonly use: HostPathUse
  readonly path: string
}

/** Additional contexts that are no folders: images, and what other services build. */
const NOT_A_FOLDER = /^(service|target|docker-image|oci-layout):/

function buildPaths(place: string, build: NonNullable<ComposeService['build']>): Found[] {
  const context = build.context ?? '.'
  const inline = build.dockerfile_inline !== undefined
  const dockerfile = { place: `${place}.dockerfile`, use: 'file' as const }
  return [
    { place: `${place}.context`, use: 'context', path: context },
    ...(inline || isRemote(context)
      ? []
      : [{ ...dockerfile, path: resolve(context, build.dockerfile ?? 'Dockerfile') }]),
    ...Object.entries(build.additional_contexts ?? {})
      .filter(([, path]) => !NOT_A_FOLDER.test(path))
      .map(([name, path]) => ({
        place: `${place}.additional_contexts.${name}`,
        use: 'context' as const,
        path,
      })),
  ]
}

function servicePaths(name: string, service: ComposeService): Found[] {
  const place = `services.${name}`
  const binds = (service.volumes ?? []).flatMap((volume, index) =>
    volume.type === 'bind' && volume.source !== undefined
      ? [{ place: `${place}.volumes[${index}]`, use: 'bind' as const, path: volume.source }]
      : [],
  )
  return [...binds, ...(service.build === undefined ? [] : buildPaths(`${place}.build`, service.build))]
}

function projectPaths(project: ComposeProject): Found[] {
  const volumes = Object.entries(project.volumes ?? {}).flatMap(([name, volume]) => {
    const path = volumeBindSource(volume)
    return path === undefined
      ? []
      : [{ place: `volumes.${name}.driver_opts.device`, use: 'bind' as const, path }]
  })
  const files = (['secrets', 'configs'] as const).flatMap((kind) =>
    Object.entries(project[kind] ?? {}).flatMap(([name, { file }]) =>
      file === undefined ? [] : [{ place: `${kind}.${name}.file`, use: 'file' as const, path: file }],
    ),
  )
  return [...volumes, ...files]
}

/** Compose leaves only a volume's device relative, and the engine then starts at its own folder. */
async function withReal(found: Found): Promise<HostPath> {
  const remote = found.use === 'context' && isRemote(found.path)
  return { ...found, remote, real: remote ? found.path : await realPath(resolve('/', found.path)) }
}

/** All paths of the host that a resolved project gives to containers or builds. */
export async function projectHostPaths(project: ComposeProject): Promise<HostPath[]> {
  const services = Object.entries(project.services).flatMap(([name, service]) => servicePaths(name, service))
  return Promise.all([...services, ...projectPaths(project)].map(withReal))
}
