import { randomBytes } from 'node:crypto'
import type { NetworkPlan } from '../../sandbox-plan.ts'
import type { Engine } from '../engine/engine.ts'
import { OWNER_LABEL, RUN_LABEL } from '../identity/labels.ts'
import { owner } from '../identity/owner.ts'
import { createNetwork } from './create-network.ts'
import type { SubnetPool } from './subnet-pool.ts'

/** More sandboxes of a run than one engine holds at once. */
const CONTAINERS = 1000

/** Networks that all sandboxes of a run share, made when the first one needs them. They carry the run's label and go with the run. */
export class RunNetworks {
  readonly #engine: Engine
  readonly #subnets: SubnetPool
  readonly #made = new Map<string, Promise<string>>()

  constructor(engine: Engine, subnets: SubnetPool) {
    this.#engine = engine
    this.#subnets = subnets
  }

  /** The network's name. @throws EngineError, ConfigError */
  async forRun(run: string, plan: NetworkPlan): Promise<string> {
    const key = JSON.stringify([run, plan.name])
    let made = this.#made.get(key)
    if (made === undefined) {
      made = this.#make(run, plan)
      this.#made.set(key, made)
      made.catch(() => this.#made.delete(key))
    }
    return made
  }

  /** To be called before the run's objects are removed: a network that is being made is there to be found when this resolves. */
  async end(run: string): Promise<void> {
    const ended = [...this.#made].filter(([key]) => (JSON.parse(key) as string[])[0] === run)
    for (const [key] of ended) this.#made.delete(key)
    await Promise.allSettled(ended.map(([, made]) => made))
  }

  async #make(run: string, plan: NetworkPlan): Promise<string> {
    const name = `belljar-${plan.name}-${randomBytes(8).toString('hex')}`
    await createNetwork(plan, {
      engine: this.#engine,
      subnets: this.#subnets,
      name,
      labels: { [RUN_LABEL]: run, [OWNER_LABEL]: owner() },
      containers: CONTAINERS,
    })
    return name
  }
}
