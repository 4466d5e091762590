import type { Engine } from '../engine/engine.ts'
import { SubnetPool } from '../network/subnet-pool.ts'
import { EngineEvents } from './engine-events.ts'

/** What all starts on one engine share: the events of each run, and the addresses of networks. */
export class StartSupport {
  readonly subnets: SubnetPool
  readonly #engine: Engine
  readonly #events = new Map<string, EngineEvents>()

  constructor(engine: Engine, options: { subnetRange?: string | undefined } = {}) {
    this.#engine = engine
    this.subnets = new SubnetPool(engine, { range: options.subnetRange })
  }

  events(run: string): EngineEvents {
    let events = this.#events.get(run)
    if (!events) {
      events = new EngineEvents(this.#engine, run)
      this.#events.set(run, events)
    }
    return events
  }

  close(): void {
    for (const events of this.#events.values()) events.close()
  }
}
