import { basename, dirname } from 'node:path'
import { isInside } from '../compose/read/paths.ts'
import type { HostPath, Refusal } from './refusal.ts'

const ENGINE_SOCKETS = new Set([
  'docker.sock',
  'podman.sock',
  'containerd.sock',
  'containerd.sock.ttrpc',
  'crio.sock',
  'buildkitd.sock',
])

const WHY = {
  bind: 'a folder or file of the host',
  file: 'read from outside the task folder',
  context: 'a build context outside the task folder',
} as const

function isEngineSocket(path: HostPath): boolean {
  return [path.path, path.real].some((one) => ENGINE_SOCKETS.has(basename(one)))
}

function pathRefusal(path: HostPath, taskDirectory: string): Refusal | undefined {
  const { place, use } = path
  if (path.remote) return { place, why: `fetched from ${path.path}`, allow: `remote:${path.path}` }
  if (use === 'bind' && isEngineSocket(path)) {
    return {
      place,
      why: `the engine's socket ${path.path}, which is the host's root`,
      allow: 'docker-socket',
    }
  }
  if (isInside(path.real, taskDirectory)) return undefined
  const link = path.real === path.path ? '' : `, really ${path.real}`
  const source = path.path === dirname(path.path) ? 'the whole file system of the host' : WHY[use]
  return { place, why: `${source} (${path.path}${link})`, allow: `${use}:${path.path}` }
}

/** Host paths that are not in the task's folder, which is given with links resolved. */
export function pathRefusals(paths: readonly HostPath[], taskDirectory: string): Refusal[] {
  return paths.flatMap((path) => pathRefusal(path, taskDirectory) ?? [])
}
