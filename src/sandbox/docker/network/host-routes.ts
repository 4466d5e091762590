import { randomBytes } from 'node:crypto'
import { readFile } from '../../guest/files.ts'
import { formatSubnet } from '../../subnets.ts'
import type { Engine } from '../engine/engine.ts'
import { programImage } from '../image/program-image.ts'
import { startAnchor } from '../ownership/anchor-container.ts'
import { removeObject } from '../remove.ts'

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

/**
 * Routes of the engine's host, wherever that is: the API does not tell them, and this process may be elsewhere (a remote
 * engine, a container, another network namespace), so a guest reads them in a container on the host's network, which is
 * gone afterwards. None where no guest runs.
 */
export async function hostRoutes(
  engine: Engine,
  labels: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const name = `bj-routes-${randomBytes(8).toString('hex')}`
  let close: () => void = () => undefined
  try {
    const id = await programImage(engine, 'guest')
    if (id === undefined) return []
    const image = { kind: 'guest', id } as const
    const reader = await startAnchor(engine, { name, labels, image, network: 'host' })
    close = reader.close
    if (!reader.connection) return []
    const text = await readFile({ connection: reader.connection, service: name }, '/proc/net/route')
    return parseRoutes(Buffer.from(text).toString())
  } catch {
    return []
  } finally {
    // Before its stream is closed: it would else remove itself at the same time.
    await removeObject(engine, { kind: 'container', id: name, name })
    close()
  }
}
