import { ConfigError } from '../../../errors.ts'
import { DEFAULT_RANGE, freeSubnets } from '../../subnets.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'

export interface SubnetPoolOptions {
  /** Where blocks come from; default 10.192.0.0/12. */
  readonly range?: string | undefined
  /** Destinations that belong to others. Asked once. */
  readonly routes?: () => Promise<readonly string[]>
  readonly random?: () => number
}

/** Subnets of all networks of an engine, IPv4 and IPv6. */
export async function networkSubnets(engine: Engine): Promise<string[]> {
  const networks = await call('listing networks', { deadlineMs: 30_000 }, (abortSignal) =>
    engine.control.listNetworks({ abortSignal }),
  )
  return networks.flatMap(({ IPAM }) => (IPAM?.Config ?? []).flatMap(({ Subnet }) => Subnet ?? []))
}

/** Hands out blocks of belljar's own range that neither a network of the engine nor a route of its host uses. */
export class SubnetPool {
  readonly #engine: Engine
  readonly #range: string
  readonly #readRoutes: () => Promise<readonly string[]>
  readonly #random: () => number
  /** Blocks that were handed out after the last list began, or whose networks were not made by then. */
  readonly #handed = new Map<string, 'making' | 'made'>()
  #routes: Promise<readonly string[]> | undefined
  #listing: Promise<readonly string[]> | undefined

  constructor(engine: Engine, options: SubnetPoolOptions = {}) {
    const { range = DEFAULT_RANGE, random = Math.random, routes = async () => [] } = options
    this.#engine = engine
    this.#range = range
    this.#random = random
    this.#readRoutes = routes
  }

  /** Reads the routes, so that the first block need not wait for them. */
  prepare(): void {
    this.#routes ??= this.#readRoutes()
  }

  /** Resolves when nothing is being read for it. */
  async idle(): Promise<void> {
    await this.#routes
  }

  /** The caller makes a network of it and then says `settle`. @throws ConfigError when there is none left */
  async take(prefixLength: number): Promise<string> {
    this.#routes ??= this.#readRoutes()
    this.#listing ??= this.#list()
    const [routes, listed] = await Promise.all([this.#routes, this.#listing])
    const used = [...routes, ...listed, ...this.#handed.keys()]
    const free = freeSubnets({ range: this.#range, prefixLength, used, offset: this.#random() }).next()
    if (free.done) {
      throw new ConfigError(
        `no block of /${prefixLength} is free in ${this.#range}, the range of belljar's networks (${used.length} subnets and routes are in use): remove networks (docker network prune) or set BELLJAR_SUBNET_RANGE to another private range`,
      )
    }
    this.#handed.set(free.value, 'making')
    return free.value
  }

  /** The network of a block has been made, or will not be. */
  settle(subnet: string): void {
    this.#handed.set(subnet, 'made')
  }

  /** Looks at the engine again before the next block: somebody else makes networks too, and what was removed is free. */
  refresh(): void {
    this.#listing = undefined
  }

  async #list(): Promise<readonly string[]> {
    const settled = [...this.#handed].flatMap(([subnet, state]) => (state === 'made' ? [subnet] : []))
    try {
      const listed = await networkSubnets(this.#engine)
      for (const subnet of settled) this.#handed.delete(subnet)
      return listed
    } catch (error) {
      this.#listing = undefined
      throw error
    }
  }
}
