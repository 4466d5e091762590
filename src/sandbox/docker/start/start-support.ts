import type { Engine } from '../engine/engine.ts'
import { LaterRemovals } from '../network/later-removals.ts'
import { RunNetworks } from '../network/run-networks.ts'
import { SubnetPool } from '../network/subnet-pool.ts'
import { EngineEvents } from './engine-events.ts'

/** What all starts on one engine share: the events of each run, the addresses of networks, and their removal. */
export class StartSupport {
  readonly subnets: SubnetPool
  readonly later: LaterRemovals
  readonly runNetworks: RunNetworks
  readonly #engine: Engine
  readonly #events = new Map<string, EngineEvents>()

  constructor(engine: Engine, options: { subnetRange?: string | undefined } = {}) {
    this.#engine = engine
    this.subnets = new SubnetPool(engine, { range: options.subnetRange })
    this.runNetworks = new RunNetworks(engine, this.subnets)
    this.later = new LaterRemovals(engine)
  }

  events(run: string): EngineEvents {
    let events = this.#events.get(run)
    if (!events) {
      events = new EngineEvents(this.#engine, run)
      this.#events.set(run, events)
    }
    return events
  }

  /** To be called before all objects of a run are removed. */
  async endRun(run: string): Promise<void> {
    await this.runNetworks.end(run)
    this.#events.get(run)?.close()
    this.#events.delete(run)
    await this.later.settle()
  }

  async close(): Promise<void> {
    await this.later.settle()
    for (const events of this.#events.values()) events.close()
  }
}
