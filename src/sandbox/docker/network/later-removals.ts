import PQueue from 'p-queue'
import type { Engine } from '../engine/engine.ts'
import { type EngineObject, removeObject } from '../remove.ts'

/** The engine removes networks one after the other, however many are asked for. */
const AT_ONCE = 4

/**
 * Networks whose containers are gone, on their way out: no sandbox waits for them. What would not go still carries its
 * run's label, so that the removal of the run finds and reports it.
 */
export class LaterRemovals {
  readonly #engine: Engine
  readonly #queue = new PQueue({ concurrency: AT_ONCE })

  constructor(engine: Engine) {
    this.#engine = engine
  }

  add(objects: readonly EngineObject[]): void {
    for (const object of objects) {
      void this.#queue.add(() => removeObject(this.#engine, object)).catch(() => undefined)
    }
  }

  /** Resolves when all that were added have gone or will not go. */
  async settle(): Promise<void> {
    await this.#queue.onIdle()
  }
}
