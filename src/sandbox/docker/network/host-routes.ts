import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { formatSubnet } from '../../subnets.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'

/** The kernel writes addresses with their bytes reversed. */
function address(hex: string): number {
  return [6, 4, 2, 0].reduce((total, at) => total * 256 + Number.parseInt(hex.slice(at, at + 2), 16), 0)
}

function prefixLength(mask: number): number {
  return mask.toString(2).padStart(32, '0').replace(/0.*$/, '').length
}

/** The destinations of a `/proc/net/route`, less default routes. */
export function parseRoutes(text: string): string[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, destination, , , , , , mask] = line.trim().split(/\s+/)
      if (destination === undefined || mask === undefined) return []
      const length = prefixLength(address(mask))
      return length === 0 ? [] : [formatSubnet({ first: address(destination), prefixLength: length })]
    })
}

/** Whether this process has the engine's network: the engine's own bridge is a device here. */
async function sharesNetwork(engine: Engine): Promise<boolean> {
  if (!('socketPath' in engine.endpoint.address)) return false
  const info = await call('looking for the default network', {}, () =>
    engine.control.getNetwork('bridge').inspect(),
  )
  const name: unknown = info.Options?.['com.docker.network.bridge.name']
  return typeof name === 'string' && existsSync(`/sys/class/net/${name}`)
}

/** Routes of the engine's host; none where they cannot be seen from here (a remote engine, or this process in a container). */
export async function hostRoutes(engine: Engine): Promise<readonly string[]> {
  try {
    return (await sharesNetwork(engine)) ? parseRoutes(await readFile('/proc/net/route', 'utf8')) : []
  } catch {
    return []
  }
}
