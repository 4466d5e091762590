import { BelljarError } from '../../errors.ts'
import type { SandboxIdentity } from '../../sample/identity.ts'
import type { RemovalReport, StartedSandbox } from '../provider.ts'
import type { Sandbox } from '../sandbox.ts'
import type { Engine } from './engine/engine.ts'
import type { EngineSandbox } from './engine-sandbox.ts'
import { type EngineObject, removeObjects, removeSelected } from './remove.ts'

/** All services of one sandbox, running. */
export class DockerStartedSandbox implements StartedSandbox {
  readonly services: ReadonlyMap<string, Sandbox>
  readonly default: Sandbox
  readonly #sandboxes: readonly EngineSandbox[]
  readonly #engine: Engine
  readonly #identity: SandboxIdentity
  readonly #objects: readonly EngineObject[]
  #removal: Promise<RemovalReport> | undefined

  constructor(data: {
    engine: Engine
    identity: SandboxIdentity
    sandboxes: readonly EngineSandbox[]
    defaultService: string
    /** What was made for it, so that it can go without a search. */
    objects: readonly EngineObject[]
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
  }

  async stopCommands(): Promise<readonly (readonly string[])[]> {
    const reason = new BelljarError('stopped', 'the commands of this sandbox were stopped')
    return (await Promise.all(this.#sandboxes.map(({ commands }) => commands.stopAll(reason)))).flat()
  }

  remove(): Promise<RemovalReport> {
    this.#removal ??= this.#remove()
    return this.#removal
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }

  /** What is known goes at once; only where that fails is everything with the identity's labels looked for. */
  async #remove(): Promise<RemovalReport> {
    const report = await removeObjects(this.#engine, this.#objects)
    if (report.left.length === 0) return report
    const rest = await removeSelected(this.#engine, this.#identity)
    return { removed: report.removed + rest.removed, left: rest.left }
  }
}
