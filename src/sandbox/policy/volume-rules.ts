import type { ComposeProject, ComposeVolume } from '../compose/map/index.ts'
import type { Refusal } from './refusal.ts'

/** The host folder that a volume of the local driver stands for; containment is checked as for any bind mount. */
export function volumeBindSource(volume: ComposeVolume): string | undefined {
  const { type, o, device } = volume?.driver_opts ?? {}
  const isBind = (o ?? '').split(',').some((option) => option === 'bind' || option === 'rbind')
  return isBind && (type ?? 'none') === 'none' ? device : undefined
}

function isMemory(options: Readonly<Record<string, string>>): boolean {
  return options.type === 'tmpfs' && !(options.o ?? '').split(',').some((option) => option.includes('bind'))
}

function volumeRefusals(key: string, volume: NonNullable<ComposeVolume>): Refusal[] {
  const place = `volumes.${key}`
  if (volume.external) {
    return [
      { place, why: 'a volume that others use as well', allow: `external-volume:${volume.name ?? key}` },
    ]
  }
  const driver = volume.driver ?? 'local'
  if (driver !== 'local') {
    return [
      { place: `${place}.driver`, why: `a volume plugin (${driver})`, allow: `volume-driver:${driver}` },
    ]
  }
  const options = volume.driver_opts ?? {}
  const plain = ['type', 'o', 'device'].every((option) => !options[option])
  if (plain || isMemory(options) || volumeBindSource(volume) !== undefined) return []
  return [{ place: `${place}.driver_opts`, why: 'a mount of the host', allow: `volume-options:${key}` }]
}

export function projectVolumeRefusals(project: ComposeProject): Refusal[] {
  return Object.entries(project.volumes ?? {}).flatMap(([key, volume]) =>
    volume === null ? [] : volumeRefusals(key, volume),
  )
}
