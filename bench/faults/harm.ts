import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Docker from 'dockerode'
import { dice, pick } from './dice.ts'
import { type Engine, killEngine, startEngine } from './engine.ts'
import type { Storm } from './storm.ts'

const BETWEEN_MS = 2000
const PAUSED_MS = 3000
/** Every so many deeds the engine itself is killed and started again. */
const RESTART_EVERY = 30

const DEEDS = [
  'container killed',
  'container killed',
  'container removed',
  'out of memory',
  'container paused',
  'out of memory',
  'network removed',
  'engine stopped for seconds',
] as const

type Deed = (typeof DEEDS)[number] | 'engine killed'

/** What goes wrong beside the calls: harms what a run has on the engine, until it is stopped. */
export class Harm implements AsyncDisposable {
  readonly #engine: Engine
  readonly #storm: Storm
  readonly #docker: Docker
  readonly #roll: () => number
  readonly #ending = new AbortController()
  readonly #done: Promise<void>

  constructor(engine: Engine, storm: Storm, seed: number) {
    this.#engine = engine
    this.#storm = storm
    this.#docker = new Docker({ socketPath: engine.socket })
    this.#roll = dice(seed, 'harm')
    this.#done = this.#go()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#done
  }

  async #go(): Promise<void> {
    const { signal } = this.#ending
    for (let count = 1; !signal.aborted; count += 1) {
      await sleep(BETWEEN_MS * (0.5 + this.#roll()), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const deed = count % RESTART_EVERY === 0 ? 'engine killed' : pick(this.#roll, DEEDS)
      const done = await this.#do(deed).catch(() => false)
      if (done) this.#storm.met(deed)
    }
  }

  /** Resolves to whether it was done: there may be nothing to do it to. */
  async #do(deed: Deed): Promise<boolean> {
    if (deed === 'engine stopped for seconds') return this.#stopEngine()
    if (deed === 'engine killed') {
      await killEngine(this.#engine)
      await startEngine(this.#engine.name)
      return true
    }
    if (deed === 'network removed') return this.#removeNetwork()
    const label = ['belljar.sample', ...(deed === 'out of memory' ? ['com.docker.compose.service=own'] : [])]
    const victims = await this.#docker.listContainers({ filters: { label, status: ['running'] } })
    if (victims.length === 0) return false
    const victim = this.#docker.getContainer(pick(this.#roll, victims).Id)
    if (deed === 'container killed') await victim.kill()
    else if (deed === 'container removed') await victim.remove({ force: true, v: true })
    else if (deed === 'container paused') await pauseFor(victim, PAUSED_MS)
    else await (await victim.exec({ Cmd: ['touch', '/tmp/grow'] })).start({ Detach: true })
    return true
  }

  async #removeNetwork(): Promise<boolean> {
    const networks = await this.#docker.listNetworks({ filters: { label: ['belljar.sample'] } })
    if (networks.length === 0) return false
    const network = this.#docker.getNetwork(pick(this.#roll, networks).Id)
    const { Containers } = (await network.inspect()) as { Containers: Record<string, unknown> }
    for (const Container of Object.keys(Containers)) await network.disconnect({ Container, Force: true })
    await network.remove()
    return true
  }

  async #stopEngine(): Promise<boolean> {
    const pid = Number(await readFile(join(dirname(this.#engine.socket), 'docker.pid'), 'utf8'))
    process.kill(pid, 'SIGSTOP')
    await sleep(2000 + 2000 * this.#roll())
    process.kill(pid, 'SIGCONT')
    return true
  }
}

async function pauseFor(container: Docker.Container, ms: number): Promise<void> {
  await container.pause()
  setTimeout(() => void container.unpause().catch(() => undefined), ms)
}
