import { BelljarError } from '../../errors.ts'
import type { SandboxIdentity } from '../../sample/identity.ts'
import type { RemovalReport, ServiceLog, StartedSandbox, StopOptions } from '../provider.ts'
import type { Sandbox } from '../sandbox.ts'
import { type LoggedContainer, serviceLogs } from './container/service-logs.ts'
import type { Engine } from './engine/engine.ts'
import type { ServiceSandbox } from './guest/service-sandbox.ts'
import type { LaterRemovals } from './network/later-removals.ts'
import { type EngineObject, removeObjects, removeSelected } from './remove.ts'

/** All services of one sandbox, running. */
export class DockerStartedSandbox implements StartedSandbox {
  readonly services: ReadonlyMap<string, Sandbox>
  readonly default: Sandbox
  readonly #sandboxes: readonly ServiceSandbox[]
  readonly #engine: Engine
  readonly #identity: SandboxIdentity
  readonly #objects: readonly EngineObject[]
  readonly #later: LaterRemovals
  readonly #containers: readonly LoggedContainer[]
  readonly #watch: Disposable
  readonly #beforeRemoval: () => Promise<void>
  #removal: Promise<RemovalReport> | undefined

  constructor(data: {
    engine: Engine
    identity: SandboxIdentity
    sandboxes: readonly ServiceSandbox[]
    defaultService: string
    /** What was made for it, so that it can go without a search. */
    objects: readonly EngineObject[]
    /** Those whose main process is not belljar's. */
    containers: readonly LoggedContainer[]
    /** Ends before anything is removed. */
    watch: Disposable
    /** Never rejects. */
    beforeRemoval: () => Promise<void>
    /** Takes the networks. */
    later: LaterRemovals
  }) {
    const { sandboxes, defaultService } = data
    this.services = new Map(sandboxes.map((sandbox) => [sandbox.service, sandbox]))
    const chosen = this.services.get(defaultService)
    if (!chosen) throw new BelljarError('plan', `the default service '${defaultService}' is not in the plan`)
    this.default = chosen
    this.#sandboxes = sandboxes
    this.#engine = data.engine
    this.#identity = data.identity
    this.#objects = data.objects
    this.#later = data.later
    this.#containers = data.containers
    this.#watch = data.watch
    this.#beforeRemoval = data.beforeRemoval
  }

  async stopCommands(options?: StopOptions): Promise<readonly (readonly string[])[]> {
    const reason = new BelljarError('stopped', 'the commands of this sandbox were stopped')
    return (await Promise.all(this.#sandboxes.map((sandbox) => sandbox.stopCommands(reason, options)))).flat()
  }

  async leftRunning(): Promise<readonly string[]> {
    return (await Promise.all(this.#sandboxes.map((sandbox) => sandbox.leftRunning?.() ?? []))).flat()
  }

  /** Lets it live on when this process ends: for a sandbox that was started to be kept. */
  async keep(): Promise<void> {
    await Promise.all(this.#sandboxes.map((sandbox) => sandbox.keep?.()))
  }

  serviceLogs(): Promise<readonly ServiceLog[]> {
    return serviceLogs(this.#engine, this.#containers)
  }

  remove(): Promise<RemovalReport> {
    this.#removal ??= this.#remove()
    return this.#removal
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }

  /** What is known goes at once, networks after it; only where that fails is everything with the identity's labels looked for. */
  async #remove(): Promise<RemovalReport> {
    this.#watch[Symbol.dispose]()
    await this.#beforeRemoval()
    const ended = await Promise.all(
      this.#sandboxes.map(async (sandbox) => ((await sandbox.end?.()) ? sandbox.container.id : undefined)),
    )
    const networks = this.#objects.filter(({ kind }) => kind === 'network')
    const rest = this.#objects.filter(({ id, kind }) => kind !== 'network' && !ended.includes(id))
    const gone = this.#objects.length - rest.length
    const report = await removeObjects(this.#engine, rest)
    if (report.left.length === 0) this.#later.add(networks)
    if (report.left.length === 0) return { removed: gone + report.removed, left: [] }
    const found = await removeSelected(this.#engine, this.#identity)
    return { removed: gone + report.removed + found.removed, left: found.left }
  }
}
