import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { statusOf } from '../engine/engine-error.ts'
import { type PreparedImage, preparedImage } from './prepared-image.ts'

const DEADLINE_MS = 20_000

/** What an image says of itself; undefined where it is not on the engine. @throws EngineError */
export async function inspectImage(
  engine: Engine,
  reference: string,
  signal?: AbortSignal,
): Promise<PreparedImage | undefined> {
  try {
    const info = await call(`looking for image ${reference}`, { signal, deadlineMs: DEADLINE_MS }, () =>
      engine.control.getImage(reference).inspect(),
    )
    return preparedImage(reference, info)
  } catch (error) {
    if (statusOf(error) === 404 || statusOf(error) === 400) return undefined
    throw error
  }
}
