import { statfs } from 'node:fs/promises'
import { DiskFullError, errorMessage } from '../../../errors.ts'
import { bytes } from '../../../util/quantities.ts'
import type { Engine } from './engine.ts'
import { EngineError } from './engine-error.ts'

const NO_SPACE = /no space left on device|disk quota exceeded/i
const CAUSES = 5

/** The engine gives ENOSPC no status or code of its own: its words are all there is. */
export function isNoSpace(message: string): boolean {
  return NO_SPACE.test(message)
}

/** What to throw in place of an error that the engine's full disk has caused; undefined: it has not. */
export async function diskFull(engine: Engine, error: unknown): Promise<DiskFullError | undefined> {
  const refusal = refusalIn(error)
  if (refusal === undefined) return undefined
  return noSpaceError(engine, refusal.message, error)
}

export async function noSpaceError(engine: Engine, words: string, cause?: unknown): Promise<DiskFullError> {
  const { dataRoot } = engine.facts
  const freeBytes = await freeBytesOf(engine)
  const free =
    freeBytes === undefined ? 'how much is free there cannot be seen from here' : `${bytes(freeBytes)} free`
  return new DiskFullError(
    `the disk of the Docker engine is full (${dataRoot}: ${free}): ${words}\n'belljar sandbox prune' removes images of earlier runs; 'docker system df' shows what else takes space`,
    { folder: dataRoot, freeBytes, cause },
  )
}

/** undefined: the engine is on another host. */
async function freeBytesOf({ endpoint, facts }: Engine): Promise<number | undefined> {
  if (!('socketPath' in endpoint.address)) return undefined
  try {
    const { bavail, bsize } = await statfs(facts.dataRoot)
    return bavail * bsize
  } catch {
    return undefined
  }
}

/** Only what the engine itself says counts: a command can print anything. */
function refusalIn(error: unknown): EngineError | undefined {
  let current = error
  for (let depth = 0; depth < CAUSES && current !== undefined; depth += 1) {
    if (current instanceof EngineError && isNoSpace(errorMessage(current))) return current
    current = current instanceof Error ? current.cause : undefined
  }
  return undefined
}
