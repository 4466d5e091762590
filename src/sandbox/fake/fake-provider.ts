import { createHash } from 'node:crypto'
import type { SandboxIdentity, SandboxSelector } from '../../sample/identity.ts'
import type { SandboxSpec } from '../../sample/sandbox-spec.ts'
import type {
  ConfigFacts,
  ProviderContext,
  RemovalReport,
  ResolvedConfig,
  SandboxProvider,
  StartedSandbox,
} from '../provider.ts'
import { type FakeExec, FakeSandbox } from './fake-sandbox.ts'

/** What a fake provider does at each step; throw to let it fail, return a promise to let it take time. `image` names the configuration. */
export interface FakeProviderOptions {
  readonly resolve?: (image: string) => void | Promise<void>
  readonly taskInit?: (image: string, context: ProviderContext) => void | Promise<void>
  readonly sampleInit?: (
    image: string,
    identity: SandboxIdentity,
    context: ProviderContext,
  ) => void | Promise<void>
  readonly remove?: (selector: SandboxSelector) => void | RemovalReport | Promise<void | RemovalReport>
  readonly stopCommands?: (image: string, identity: SandboxIdentity) => void | Promise<void>
  readonly exec?: FakeExec
}

/** A provider of sandboxes in memory, for tests of tasks and of belljar itself. `kind` is `fake`; configurations differ by `image`. */
export class FakeProvider implements SandboxProvider {
  readonly kind = 'fake'
  /** What was called, in order, such as `taskInit a`, `sampleInit a 1`, `remove a 1`. */
  readonly calls: string[] = []
  readonly live = new Map<string, { identity: SandboxIdentity; image: string }>()
  /** The largest number of sandboxes that were up at once. */
  mostLive = 0
  readonly #options: FakeProviderOptions

  constructor(options: FakeProviderOptions = {}) {
    this.#options = options
  }

  async resolve(spec: SandboxSpec): Promise<ResolvedConfig> {
    const image = spec.config?.image ?? 'default'
    await this.#options.resolve?.(image)
    const key = createHash('sha256').update(image).digest('hex')
    return { kind: 'fake', key, description: `fake ${image}`, reach: 'internet: off', data: image }
  }

  async taskInit(config: ResolvedConfig, context: ProviderContext): Promise<ConfigFacts> {
    const image = String(config.data)
    this.calls.push(`taskInit ${image}`)
    await this.#options.taskInit?.(image, context)
    return { images: { default: `sha256:${image}` }, planDigest: config.key }
  }

  async sampleInit(
    config: ResolvedConfig,
    identity: SandboxIdentity,
    context: ProviderContext,
  ): Promise<StartedSandbox> {
    const image = String(config.data)
    this.calls.push(`sampleInit ${image} ${identity.sample}`)
    this.#create(identity, image)
    await this.#options.sampleInit?.(image, identity, context)
    // As a container comes after its network: a removal meanwhile has missed this one.
    this.#create(identity, image)
    const sandbox = new FakeSandbox('default', this.#options.exec)
    const remove = () => this.remove(identity)
    return {
      services: new Map([['default', sandbox]]),
      default: sandbox,
      stopCommands: async () => {
        await this.#options.stopCommands?.(image, identity)
        return []
      },
      remove,
      [Symbol.asyncDispose]: async () => void (await remove()),
    }
  }

  #create(identity: SandboxIdentity, image: string): void {
    this.live.set(keyOf(identity), { identity, image })
    this.mostLive = Math.max(this.mostLive, this.live.size)
  }

  async remove(selector: SandboxSelector): Promise<RemovalReport> {
    const report = await this.#options.remove?.(selector)
    if (report && report.left.length > 0) return report
    const gone = [...this.live].filter(([, { identity }]) => matches(identity, selector))
    for (const [key, { identity, image }] of gone) {
      this.live.delete(key)
      this.calls.push(`remove ${image} ${identity.sample}`)
    }
    return { removed: gone.length, left: [] }
  }

  async taskCleanup(config: ResolvedConfig): Promise<void> {
    this.calls.push(`taskCleanup ${String(config.data)}`)
  }

  async list(): Promise<SandboxIdentity[]> {
    return [...this.live.values()].map(({ identity }) => identity)
  }

  async close(): Promise<void> {
    this.calls.push('close')
  }
}

function keyOf({ run, eval: evalId, sample, epoch, attempt, part }: SandboxIdentity): string {
  return JSON.stringify([run, evalId, sample, epoch, attempt, part])
}

function matches(identity: SandboxIdentity, selector: SandboxSelector): boolean {
  return Object.entries(selector).every(([name, value]) => identity[name as keyof SandboxIdentity] === value)
}
