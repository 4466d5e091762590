import { Limiter } from '../../../limit/limiter.ts'
import type { Engine } from '../engine/engine.ts'
import { OWNER_LABEL, RUN_LABEL } from '../identity/labels.ts'
import { owner } from '../identity/owner.ts'
import { hostRoutes } from '../network/host-routes.ts'
import { LaterRemovals } from '../network/later-removals.ts'
import { RunNetworks } from '../network/run-networks.ts'
import { SubnetPool } from '../network/subnet-pool.ts'
import { defaultMaxStarts } from './start-turn.ts'

export interface StartSupportOptions {
  readonly subnetRange?: string | undefined
  /** Sandboxes that are started at once (default: twice the engine's processors). */
  readonly maxStarts?: number | undefined
}

/** What all starts on one engine share: the addresses of networks and their removal. */
export class StartSupport {
  readonly subnets: SubnetPool
  readonly later: LaterRemovals
  readonly runNetworks: RunNetworks
  readonly starts: Limiter
  #runLabel: Readonly<Record<string, string>> = {}

  constructor(engine: Engine, options: StartSupportOptions = {}) {
    const routes = () => hostRoutes(engine, { [OWNER_LABEL]: owner(), ...this.#runLabel })
    this.subnets = new SubnetPool(engine, { range: options.subnetRange, routes })
    this.starts = new Limiter(options.maxStarts ?? defaultMaxStarts(engine.facts.cpus))
    this.runNetworks = new RunNetworks(engine, this.subnets)
    this.later = new LaterRemovals(engine)
  }

  /** Networks will be made for this run. */
  expectNetworks(run: string): void {
    this.#runLabel = { [RUN_LABEL]: run }
    this.subnets.prepare()
  }

  /** To be called before all objects of a run are removed. */
  async endRun(run: string): Promise<void> {
    await this.subnets.idle()
    await this.runNetworks.end(run)
    await this.later.settle()
  }

  async close(): Promise<void> {
    await this.later.settle()
  }
}
