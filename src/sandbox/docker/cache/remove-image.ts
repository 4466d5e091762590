import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { statusOf } from '../engine/engine-error.ts'

/** Never by force: what a container is made from stays. @throws EngineError */
export async function removeImage(engine: Engine, name: string): Promise<void> {
  try {
    await call(`removing image ${name}`, { deadlineMs: 120_000 }, () =>
      engine.control.getImage(name).remove(),
    )
  } catch (error) {
    if (statusOf(error) !== 404) throw error
  }
}
