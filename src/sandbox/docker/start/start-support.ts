import type { Engine } from '../engine/engine.ts'
import { LaterRemovals } from '../network/later-removals.ts'
import { RunNetworks } from '../network/run-networks.ts'
import { SubnetPool } from '../network/subnet-pool.ts'

/** What all starts on one engine share: the addresses of networks and their removal. */
export class StartSupport {
  readonly subnets: SubnetPool
  readonly later: LaterRemovals
  readonly runNetworks: RunNetworks

  constructor(engine: Engine, options: { subnetRange?: string | undefined } = {}) {
    this.subnets = new SubnetPool(engine, { range: options.subnetRange })
    this.runNetworks = new RunNetworks(engine, this.subnets)
    this.later = new LaterRemovals(engine)
  }

  /** To be called before all objects of a run are removed. */
  async endRun(run: string): Promise<void> {
    await this.runNetworks.end(run)
    await this.later.settle()
  }

  async close(): Promise<void> {
    await this.later.settle()
  }
}
