import type { MapContext } from './context.ts'
import type { ComposeProject, ComposeSource } from './schema.ts'
import type { ComposeService, ComposeVolumeMount } from './schema-service.ts'

export interface Mounts {
  readonly Binds: string[]
  readonly Mounts: Record<string, unknown>[]
  readonly Tmpfs: Record<string, string>
}

function base(volume: ComposeVolumeMount) {
  return {
    Type: volume.type,
    Target: volume.target,
    ...(volume.source === undefined ? {} : { Source: volume.source }),
    ...(volume.read_only ? { ReadOnly: true } : {}),
    ...(volume.consistency === undefined ? {} : { Consistency: volume.consistency }),
  }
}

function bindMount(volume: ComposeVolumeMount, createSource: boolean): Record<string, unknown> {
  const options = {
    ...(volume.bind?.propagation ? { Propagation: volume.bind.propagation } : {}),
    ...(volume.bind?.recursive === 'disabled' ? { NonRecursive: true } : {}),
    ...(volume.bind?.recursive === 'writable' ? { ReadOnlyNonRecursive: true } : {}),
    ...(volume.bind?.recursive === 'readonly' ? { ReadOnlyForceRecursive: true } : {}),
    ...(createSource ? { CreateMountpoint: true } : {}),
  }
  return { ...base(volume), ...(Object.keys(options).length > 0 ? { BindOptions: options } : {}) }
}

function bindText(volume: ComposeVolumeMount): string {
  const options = [volume.read_only ? 'ro' : 'rw', volume.bind?.selinux].filter((option) => option)
  return `${volume.source}:${volume.target}:${options.join(',')}`
}

/** Only the old form of binds creates a missing source on every engine. Without `bind` options a missing source is created too. */
function addBind(mounts: Mounts, volume: ComposeVolumeMount, outside: boolean): void {
  const createSource = (volume.bind?.create_host_path ?? volume.bind === undefined) && !outside
  const advanced = Boolean(volume.bind?.propagation || volume.bind?.recursive)
  const ambiguous = `${volume.source}${volume.target}`.includes(':')
  if (createSource && !advanced && !ambiguous) mounts.Binds.push(bindText(volume))
  else mounts.Mounts.push(bindMount(volume, createSource))
}

function volumeMount(volume: ComposeVolumeMount): Record<string, unknown> {
  const options = {
    ...(volume.volume?.nocopy ? { NoCopy: true } : {}),
    ...(volume.volume?.subpath ? { Subpath: volume.volume.subpath } : {}),
  }
  return { ...base(volume), ...(Object.keys(options).length > 0 ? { VolumeOptions: options } : {}) }
}

function tmpfsMount(volume: ComposeVolumeMount): Record<string, unknown> {
  const { size, mode } = volume.tmpfs ?? {}
  const options = {
    ...(size === undefined ? {} : { SizeBytes: size }),
    ...(mode === undefined ? {} : { Mode: mode }),
  }
  return { ...base(volume), ...(Object.keys(options).length > 0 ? { TmpfsOptions: options } : {}) }
}

function addVolume(mounts: Mounts, volume: ComposeVolumeMount, context: MapContext): void {
  if (volume.type === 'bind') addBind(mounts, volume, context.outsidePaths.has(volume.source ?? ''))
  else if (volume.type === 'volume') mounts.Mounts.push(volumeMount(volume))
  else if (volume.type === 'tmpfs') mounts.Mounts.push(tmpfsMount(volume))
  else {
    const subpath = volume.image?.subpath
    mounts.Mounts.push({ ...base(volume), ...(subpath ? { ImageOptions: { Subpath: subpath } } : {}) })
  }
}

function fileMounts(
  references: ComposeService['secrets'],
  sources: Readonly<Record<string, ComposeSource>> | undefined,
  folder: string,
): Record<string, unknown>[] {
  return (references ?? []).flatMap((reference) => {
    const file = sources?.[reference.source]?.file
    if (file === undefined) return []
    return [{ Type: 'bind', Source: file, Target: targetOf(reference, folder), ReadOnly: true }]
  })
}

export function targetOf(reference: { source: string; target?: string | undefined }, folder: string): string {
  const target = reference.target ?? reference.source
  return target.startsWith('/') ? target : `${folder}${target}`
}

/** Everything mounted into a service. A volume's `Source` is its name in the plan. */
export function serviceMounts(
  service: ComposeService,
  project: Pick<ComposeProject, 'secrets' | 'configs'>,
  context: MapContext,
): Mounts {
  const mounts: Mounts = { Binds: [], Mounts: [], Tmpfs: {} }
  for (const volume of service.volumes ?? []) addVolume(mounts, volume, context)
  const taken = new Set((service.volumes ?? []).map((volume) => volume.target))
  const files = [
    ...fileMounts(service.secrets, project.secrets, '/run/secrets/'),
    ...fileMounts(service.configs, project.configs, '/'),
  ]
  mounts.Mounts.push(...files.filter((mount) => !taken.has(String(mount.Target))))
  for (const entry of service.tmpfs ?? []) {
    const colon = entry.indexOf(':')
    mounts.Tmpfs[colon < 0 ? entry : entry.slice(0, colon)] = colon < 0 ? '' : entry.slice(colon + 1)
  }
  return mounts
}
