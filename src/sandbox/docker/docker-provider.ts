import { SandboxInitError } from '../../errors.ts'
import type { SandboxIdentity, SandboxSelector } from '../../sample/identity.ts'
import type { SandboxSpec } from '../../sample/sandbox-spec.ts'
import type {
  ConfigFacts,
  ProviderContext,
  RemovalReport,
  ResolveContext,
  ResolvedConfig,
  SandboxProvider,
  StartedSandbox,
} from '../provider.ts'
import { canonicalHash } from './config/canonical.ts'
import { type DockerConfigData, resolveDockerConfig } from './config/resolve-config.ts'
import { type ConnectOptions, connectEngine, type Engine } from './engine/engine.ts'
import { identityFromLabels, RUN_LABEL } from './identity/labels.ts'
import { Images } from './image/images.ts'
import type { PreparedImage } from './image/prepared-image.ts'
import type { Clock } from './image/pull.ts'
import { listObjects, removeSelected } from './remove.ts'
import { startSandbox } from './start-sandbox.ts'

export interface DockerProviderOptions extends ConnectOptions {
  /** What waits between attempts to pull; tests pass their own. */
  readonly clock?: Clock
}

/** Images by service. */
type Prepared = ReadonlyMap<string, PreparedImage>

/** Sandboxes as containers of one Docker engine. */
export class DockerProvider implements SandboxProvider {
  readonly kind = 'docker'
  readonly engine: Engine
  readonly #images: Images
  readonly #prepared = new Map<string, Prepared>()

  constructor(engine: Engine, options: { clock?: Clock | undefined } = {}) {
    this.engine = engine
    this.#images = new Images(engine, options.clock)
  }

  /** @throws ConfigError when no engine answers, or only one that is too old */
  static async connect(options: DockerProviderOptions = {}): Promise<DockerProvider> {
    return new DockerProvider(await connectEngine(options), { clock: options.clock })
  }

  resolve(spec: SandboxSpec, context: ResolveContext): Promise<ResolvedConfig> {
    return resolveDockerConfig(spec, context)
  }

  async taskInit(config: ResolvedConfig, context: ProviderContext): Promise<ConfigFacts> {
    const { plan, buildHashes, warnings } = config.data as DockerConfigData
    for (const message of warnings) context.report?.({ kind: 'warning', message })
    const prepared = new Map<string, PreparedImage>()
    for (const { name, image, container } of plan.services) {
      const hash = buildHashes[name]
      prepared.set(name, await this.#images.prepare(image, { ...context, ...(hash && { hash }) }))
      this.#checkRuntime(container.hostConfig.Runtime)
    }
    this.#prepared.set(config.key, prepared)
    const images = Object.fromEntries([...prepared].map(([service, image]) => [service, image.id]))
    return { images, planDigest: canonicalHash(plan) }
  }

  async sampleInit(
    config: ResolvedConfig,
    identity: SandboxIdentity,
    context: ProviderContext,
  ): Promise<StartedSandbox> {
    context.signal?.throwIfAborted()
    if (!this.#prepared.has(config.key)) await this.taskInit(config, context)
    const images = this.#prepared.get(config.key) ?? new Map()
    const { plan } = config.data as DockerConfigData
    return startSandbox({ engine: this.engine, plan, images, identity, signal: context.signal })
  }

  remove(selector: SandboxSelector): Promise<RemovalReport> {
    return removeSelected(this.engine, selector)
  }

  async taskCleanup(config: ResolvedConfig): Promise<void> {
    this.#prepared.delete(config.key)
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

  async close(): Promise<void> {
    this.engine.close()
  }

  #checkRuntime(runtime: unknown): void {
    const { runtimes } = this.engine.facts
    if (typeof runtime !== 'string' || runtimes.includes(runtime)) return
    throw new SandboxInitError(`the engine has no runtime '${runtime}'; it has ${runtimes.join(', ')}`)
  }
}
