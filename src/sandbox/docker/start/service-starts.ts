import { errorMessage, SandboxUnavailableError } from '../../../errors.ts'
import { untilAborted } from '../../../util/abort.ts'
import { type LinkedController, linkedController } from '../../../util/linked-controller.ts'
import type { ServiceDependency, ServicePlan } from '../../sandbox-plan.ts'
import {
  createServiceContainer,
  type ServiceContainer,
  type ServiceContext,
  startServiceContainer,
} from '../container/start-service.ts'
import type { EngineEvents } from '../events/engine-events.ts'
import type { ServiceSandbox } from '../guest/service-sandbox.ts'
import { allSettled } from './all-settled.ts'
import { awaitService } from './await-service.ts'
import type { AttemptContext } from './context.ts'
import { runPostStart } from './hooks.ts'
import type { SharedResources } from './resources.ts'
import { ServiceStage } from './service-stage.ts'
import { StartFailure } from './start-failure.ts'
import { StartTurn } from './start-turn.ts'

/** Starts the services of a plan, each as soon as what it depends on is as far as it asks for. */
export class ServiceStarts implements Disposable {
  readonly #context: AttemptContext & SharedResources
  readonly #events: EngineEvents
  readonly #ending: LinkedController
  readonly #stages: ReadonlyMap<string, ServiceStage>
  readonly #unsettled: Set<string>
  readonly #looping = new Set<string>()
  readonly #turn: StartTurn
  #failure: { error: unknown } | undefined

  constructor(context: AttemptContext & SharedResources) {
    this.#ending = linkedController(context.signal)
    this.#context = { ...context, signal: this.#ending.signal }
    this.#events = context.engine.events
    const names = context.plan.services.map(({ name }) => name)
    this.#stages = new Map(names.map((name) => [name, new ServiceStage()]))
    this.#unsettled = new Set(names)
    this.#turn = new StartTurn(context.support.starts, this.#ending.signal)
  }

  [Symbol.dispose](): void {
    this.#turn[Symbol.dispose]()
    this.#ending[Symbol.dispose]()
  }

  /** When it throws, nothing is under way any more. */
  async run(): Promise<readonly ServiceStage[]> {
    await Promise.all(this.#context.plan.services.map((service) => this.#run(service)))
    await this.#context.networksMade.catch(() => undefined)
    if (this.#failure) throw this.#failure.error
    return [...this.#stages.values()]
  }

  async #run(service: ServicePlan): Promise<void> {
    try {
      await this.#bringUp(service)
    } catch (thrown) {
      const error = this.#describe(service, thrown)
      this.#stage(service.name).fail(error)
      if (this.#isOptional(service) && !this.#ending.signal.aborted) {
        const message = `${errorMessage(error)}\n(no service requires it: the start goes on)`
        this.#context.report({ kind: 'warning', message })
        return
      }
      this.#failure ??= { error }
      this.#ending.abort(error)
    } finally {
      this.#unsettled.delete(service.name)
    }
  }

  #describe(service: ServicePlan, thrown: unknown): unknown {
    const { signal } = this.#ending
    if (thrown instanceof SandboxUnavailableError || (signal.aborted && thrown === signal.reason))
      return thrown
    return new StartFailure(`the sandbox service '${service.name}' did not start: ${errorMessage(thrown)}`, {
      service: service.name,
      cause: thrown,
    })
  }

  async #bringUp(service: ServicePlan): Promise<void> {
    const { signal } = this.#ending
    const stage = this.#stage(service.name)
    await this.#turn.enter()
    try {
      await this.#makeAndStart(service, stage)
    } finally {
      this.#turn.leave()
    }
    await awaitService(service, stage, {
      plan: this.#context.plan,
      events: this.#events,
      signal,
      mayStillCome: () => {
        this.#looping.add(service.name)
        return [...this.#unsettled].some((name) => !this.#looping.has(name))
      },
    })
  }

  async #makeAndStart(service: ServicePlan, stage: ServiceStage): Promise<void> {
    const { signal } = this.#ending
    const { joins = {}, volumesFrom = [], links = [] } = service
    const shared = [...Object.values(joins), ...volumesFrom.map((entry) => entry.service)]
    await this.#all(shared.map((name) => this.#stage(name).created.promise))
    stage.containers = await this.#create(service)
    stage.created.resolve(stage.containers)
    const needed = [...shared, ...links.map((link) => link.service)]
    await this.#all([
      this.#events.open(),
      this.#context.networksMade,
      ...needed.map((name) => this.#stage(name).started.promise),
    ])
    if (service.dependsOn.length > 0) await this.#dependencies(service.dependsOn)
    signal.throwIfAborted()
    stage.sandboxes = await this.#start(service, stage.containers)
    signal.throwIfAborted()
    stage.started.resolve()
  }

  /** Others may start meanwhile: what is waited for may take minutes to become healthy. */
  async #dependencies(edges: readonly ServiceDependency[]): Promise<void> {
    this.#turn.leave()
    try {
      await this.#all(edges.map((edge) => this.#dependency(edge)))
    } finally {
      await this.#turn.enter()
    }
  }

  async #create(service: ServicePlan): Promise<readonly ServiceContainer[]> {
    const context = this.#serviceContext(service)
    const numbers = Array.from({ length: service.replicas ?? 1 }, (_, index) => index + 1)
    return allSettled(numbers.map((number) => createServiceContainer(service, number, context)))
  }

  async #start(
    service: ServicePlan,
    containers: readonly ServiceContainer[],
  ): Promise<readonly ServiceSandbox[]> {
    const context = this.#serviceContext(service)
    return allSettled(
      containers.map(async (container) => {
        const sandbox = await startServiceContainer(service, container, context)
        await runPostStart(container.ref, service.hooks?.postStart ?? [], this.#ending.signal)
        return sandbox
      }),
    )
  }

  #serviceContext({ name }: ServicePlan): ServiceContext {
    const image = this.#context.images.get(name)
    if (!image) throw new StartFailure(`the image of service '${name}' was not prepared`, { service: name })
    const containerIds = (service: string) => this.#stage(service).containers.map(({ ref }) => ref.id)
    return { ...this.#context, image, containerIds }
  }

  async #dependency({ service, condition, required }: ServiceDependency): Promise<void> {
    const reached = this.#stage(service)[condition].promise
    await (required ? reached : reached.catch(() => undefined))
  }

  #all(work: readonly Promise<unknown>[]): Promise<unknown> {
    return untilAborted(Promise.all(work), this.#ending.signal)
  }

  /** Whether the sandbox is worth starting without it: others depend on it, and none requires it. */
  #isOptional({ name }: ServicePlan): boolean {
    const { services, defaultService } = this.#context.plan
    const edges = services.flatMap(({ dependsOn }) => dependsOn.filter(({ service }) => service === name))
    return name !== defaultService && edges.length > 0 && edges.every(({ required }) => !required)
  }

  #stage(name: string): ServiceStage {
    const stage = this.#stages.get(name)
    if (!stage) throw new StartFailure(`the plan has no service '${name}'`, { service: name })
    return stage
  }
}
