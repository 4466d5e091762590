import { SandboxInitError } from '../../errors.ts'
import type { SandboxIdentity, SandboxSelector } from '../../sample/identity.ts'
import type { SandboxSpec } from '../../sample/sandbox-spec.ts'
import { canonicalHash } from '../../util/canonical.ts'
import { refuseMovedBinds } from '../policy/moved-binds.ts'
import type {
  ConfigFacts,
  KeptSandbox,
  ProviderContext,
  RemovalReport,
  ResolveContext,
  ResolvedConfig,
  RunClaim,
  SandboxProvider,
  StartedSandbox,
} from '../provider.ts'
import { type DockerConfigData, resolveDockerConfig } from './config/resolve-config.ts'
import { checkEnforceable } from './egress/check-enforceable.ts'
import { type ConnectOptions, connectEngine, type Engine } from './engine/engine.ts'
import { EngineError, mayPass } from './engine/engine-error.ts'
import { engineReturns, isOutage } from './engine/engine-returns.ts'
import { Guests, type GuestsOptions } from './guest/guests.ts'
import { identityFromLabels, RUN_LABEL } from './identity/labels.ts'
import { Images } from './image/images.ts'
import { prepareImages } from './image/prepare-images.ts'
import type { PreparedImage } from './image/prepared-image.ts'
import type { Clock } from './image/pull.ts'
import { missingIsolation } from './network/create-network.ts'
import { keepSandbox } from './ownership/kept.ts'
import { RunOwnership } from './ownership/run-ownership.ts'
import { listObjects, removeSelected } from './remove.ts'
import { startSandbox } from './start/start-sandbox.ts'
import { StartSupport } from './start/start-support.ts'

export interface DockerProviderOptions extends ConnectOptions, GuestsOptions {
  /** What waits between attempts to pull; tests pass their own. */
  readonly clock?: Clock
  /** Refuses what is not built yet. */
  readonly noBuild?: boolean | undefined
  /** Removes what was pulled or built here when it is cleaned up. */
  readonly removeImages?: boolean | undefined
  /** Where the subnets of networks come from; default: BELLJAR_SUBNET_RANGE, else 10.192.0.0/12. */
  readonly subnetRange?: string
  /** Sandboxes that are started at once (default: twice the engine's processors). */
  readonly maxStarts?: number | undefined
}

/** Images by service. */
type Prepared = ReadonlyMap<string, PreparedImage>

/** Sandboxes as containers of one Docker engine. */
export class DockerProvider implements SandboxProvider {
  readonly kind = 'docker'
  readonly engine: Engine
  readonly #images: Images
  readonly #support: StartSupport
  readonly #guests: Guests
  readonly #prepared = new Map<string, Prepared>()
  readonly #removeImages: boolean
  #enforceable: Promise<void> | undefined
  #claim: RunClaim | undefined
  #ownership: RunOwnership | undefined

  constructor(engine: Engine, options: Omit<DockerProviderOptions, keyof ConnectOptions> = {}) {
    this.engine = engine
    this.#guests = new Guests(engine, options)
    this.#support = new StartSupport(engine, options)
    this.#images = new Images(engine, options)
    this.#removeImages = options.removeImages ?? false
  }

  /** @throws ConfigError when no engine answers, or only one that is too old */
  static async connect(options: DockerProviderOptions = {}): Promise<DockerProvider> {
    const { BELLJAR_SUBNET_RANGE } = options.environment ?? process.env
    return new DockerProvider(await connectEngine(options), {
      subnetRange: BELLJAR_SUBNET_RANGE,
      ...options,
    })
  }

  claim(claim: RunClaim): void {
    this.#claim = claim
    if (claim.keep !== undefined && claim.keep !== 'none') this.#guests.mayOutlive()
  }

  resolve(spec: SandboxSpec, context: ResolveContext): Promise<ResolvedConfig> {
    return resolveDockerConfig(spec, context)
  }

  async missingImages(config: ResolvedConfig): Promise<string[]> {
    const { buildHashes } = config.data as DockerConfigData
    const missing: string[] = []
    for (const [service, hash] of Object.entries(buildHashes)) {
      if (!(await this.#images.isBuilt(hash))) missing.push(`${config.description}: service '${service}'`)
    }
    return missing
  }

  /** @throws SandboxInitError, `transient` where the engine, not the configuration, is to blame; ConfigError */
  async taskInit(config: ResolvedConfig, context: ProviderContext): Promise<ConfigFacts> {
    try {
      return await this.#makeReady(config, context)
    } catch (error) {
      if (!(error instanceof EngineError) || !mayPass(error)) throw error
      if (isOutage(error)) await engineReturns(this.engine, context)
      throw new SandboxInitError(error.message, { transient: true, cause: error })
    }
  }

  async #makeReady(config: ResolvedConfig, context: ProviderContext): Promise<ConfigFacts> {
    const { plan, buildHashes, warnings } = config.data as DockerConfigData
    this.#own()
    for (const message of warnings) context.report?.({ kind: 'warning', message })
    for (const { container } of plan.services) this.#checkRuntime(container.hostConfig.Runtime)
    for (const network of plan.networks) {
      const message = missingIsolation(network, this.engine)
      if (message !== undefined) context.report?.({ kind: 'warning', message })
    }
    if (plan.networks.length > 0 && this.#claim) this.#support.expectNetworks(this.#claim.run)
    if (plan.services.some(({ image }) => image.kind === 'egress')) await this.#checkEnforceable()
    const prepared = await prepareImages(this.#images, { plan, buildHashes }, context)
    this.#prepared.set(config.key, prepared)
    const transports = this.#guests.transports(plan, prepared, context)
    const own = plan.services.flatMap(({ name, container }) => (container.helper ? [] : [name]))
    const images = Object.fromEntries(own.map((service) => [service, prepared.get(service)?.id ?? '']))
    for (const id of Object.values(images)) this.#ownership?.offerImage(id)
    return { images, planDigest: canonicalHash(plan), transports }
  }

  async sampleInit(
    config: ResolvedConfig,
    identity: SandboxIdentity,
    context: ProviderContext,
  ): Promise<StartedSandbox> {
    context.signal?.throwIfAborted()
    const images = await this.#imagesOf(config, context)
    try {
      return await this.#start(config, identity, { images, context })
    } catch (error) {
      if (context.signal?.aborted || !(await this.#haveGone(images))) throw error
      context.report?.({ kind: 'warning', message: 'an image was removed meanwhile: making it ready anew' })
      this.#prepared.delete(config.key)
      return this.#start(config, identity, { images: await this.#imagesOf(config, context), context })
    }
  }

  async #imagesOf(config: ResolvedConfig, context: ProviderContext): Promise<Prepared> {
    if (!this.#prepared.has(config.key)) await this.taskInit(config, context)
    return this.#prepared.get(config.key) ?? new Map()
  }

  async #start(
    config: ResolvedConfig,
    identity: SandboxIdentity,
    { images, context }: { images: Prepared; context: ProviderContext },
  ): Promise<StartedSandbox> {
    const { plan, policy } = config.data as DockerConfigData
    await refuseMovedBinds(plan, policy)
    return startSandbox({
      engine: this.engine,
      support: this.#support,
      guests: this.#guests,
      plan,
      images,
      identity,
      signal: context.signal,
      report: context.report,
      onServiceLogs: context.onServiceLogs,
    })
  }

  async #haveGone(images: Prepared): Promise<boolean> {
    const present = [...images.values()].map((image) => this.#images.isThere(image))
    return (await Promise.all(present).catch(() => [true])).includes(false)
  }

  keep(identity: SandboxIdentity): Promise<KeptSandbox> {
    return keepSandbox(this.engine, identity, (project) => this.#ownership?.keep(project))
  }

  async remove(selector: SandboxSelector): Promise<RemovalReport> {
    if (Object.keys(selector).length === 1) {
      await this.#guests.endRun(selector.run)
      if (selector.run === this.#claim?.run) await this.#ownership?.release()
      await this.#support.endRun(selector.run)
    }
    return removeSelected(this.engine, selector)
  }

  async taskCleanup(config: ResolvedConfig): Promise<void> {
    const images = this.#prepared.get(config.key)
    this.#prepared.delete(config.key)
    if (!images || !this.#removeImages) return
    const used = new Set([...this.#prepared.values()].flatMap((one) => [...one.values()].map(({ id }) => id)))
    for (const image of images.values()) {
      if (used.has(image.id) || !(await this.#images.discard(image))) continue
      this.#claim?.note('info', `image ${image.reference} was removed after its last use`)
    }
  }

  async list(): Promise<SandboxIdentity[]> {
    const objects = await listObjects(this.engine, { label: [RUN_LABEL] })
    const found = new Map<string, SandboxIdentity>()
    for (const { labels } of objects) {
      const identity = identityFromLabels(labels)
      if (identity) found.set(JSON.stringify(identity), identity)
    }
    return [...found.values()]
  }

  abandon(): void {
    this.#ownership?.abandon()
  }

  async close(): Promise<void> {
    this.#ownership?.close()
    await this.#support.close()
    this.engine.close()
  }

  /** Begins with the first thing that is made for the run. */
  #own(): void {
    if (this.#claim) this.#ownership ??= RunOwnership.begin(this.#claim, this.engine)
  }

  /** Once for this engine, unless it failed. */
  #checkEnforceable(): Promise<void> {
    this.#enforceable ??= checkEnforceable(this.engine, this.#claim?.run).catch((error: unknown) => {
      this.#enforceable = undefined
      throw error
    })
    return this.#enforceable
  }

  #checkRuntime(runtime: unknown): void {
    const { runtimes } = this.engine.facts
    if (typeof runtime !== 'string' || runtimes.includes(runtime)) return
    throw new SandboxInitError(`the engine has no runtime '${runtime}'; it has ${runtimes.join(', ')}`)
  }
}
