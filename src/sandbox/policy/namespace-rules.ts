import type { NamedService, Refusal } from './refusal.ts'

const NAMESPACES = {
  network_mode: { name: 'network', allow: 'host-network' },
  pid: { name: 'process', allow: 'host-pid' },
  ipc: { name: 'ipc', allow: 'host-ipc' },
  uts: { name: 'uts', allow: 'host-uts' },
  userns_mode: { name: 'user', allow: 'host-userns' },
  cgroup: { name: 'cgroup', allow: 'host-cgroup' },
} as const

/** Host namespaces, and those of containers outside the plan. */
export function namespaceRefusals({ place, service }: NamedService): Refusal[] {
  return Object.entries(NAMESPACES).flatMap(([key, { name, allow }]) => {
    const mode = service[key as keyof typeof NAMESPACES]
    if (mode === 'host') return [{ place: `${place}.${key}`, why: `the host's ${name} namespace`, allow }]
    if (!mode?.startsWith('container:')) return []
    return [{ place: `${place}.${key}`, why: `the ${name} namespace of a container outside`, allow: mode }]
  })
}

export function volumesFromRefusals({ place, service }: NamedService): Refusal[] {
  return (service.volumes_from ?? []).map((entry, index) => ({
    place: `${place}.volumes_from[${index}]`,
    why: `the volumes of ${entry}`,
    allow: 'volumes-from',
  }))
}
