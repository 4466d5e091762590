import { createHash } from 'node:crypto'
import { ConfigError } from '../../errors.ts'
import type { SandboxIdentity, SandboxSelector } from '../../sample/identity.ts'
import type { SandboxSpec } from '../../sample/sandbox-spec.ts'
import { findGuestBinary, guestArchitecture } from '../guest/binary.ts'
import type {
  ConfigFacts,
  ProviderContext,
  RemovalReport,
  ResolvedConfig,
  SandboxProvider,
  StartedSandbox,
} from '../provider.ts'
import { LocalSandbox } from './local-sandbox.ts'

const KEY = createHash('sha256').update('local').digest('hex').slice(0, 32)

/** Sandboxes that are none: folders and processes of this host. For trying a task where no engine is. */
export class LocalProvider implements SandboxProvider {
  readonly kind = 'local'
  readonly #binary: string
  readonly #live = new Set<LocalSandbox>()

  private constructor(binary: string) {
    this.#binary = binary
  }

  /** @throws ConfigError where there is no guest for this host */
  static async open(): Promise<LocalProvider> {
    const architecture = process.platform === 'linux' ? guestArchitecture(process.arch) : undefined
    const binary = architecture && findGuestBinary(architecture)
    if (binary) return new LocalProvider(binary)
    throw new ConfigError(
      `sandbox 'local' needs the guest, which is not built for ${process.platform}/${process.arch}`,
    )
  }

  async resolve(spec: SandboxSpec): Promise<ResolvedConfig> {
    if (spec.config !== undefined) throw new ConfigError("sandbox 'local' takes no configuration")
    return {
      kind: 'local',
      key: KEY,
      description: 'local',
      reach: 'local: no isolation',
      data: undefined,
    }
  }

  async taskInit(): Promise<ConfigFacts> {
    return { images: {}, planDigest: KEY, transports: { default: 'guest' } }
  }

  async sampleInit(
    _config: ResolvedConfig,
    identity: SandboxIdentity,
    { signal }: ProviderContext,
  ): Promise<StartedSandbox> {
    const sandbox = await LocalSandbox.start(this.#binary, identity, { signal })
    this.#live.add(sandbox)
    return sandbox
  }

  async remove(selector: SandboxSelector): Promise<RemovalReport> {
    const selected = [...this.#live].filter(({ identity }) => matches(identity, selector))
    const reports = await Promise.all(selected.map((sandbox) => sandbox.remove()))
    for (const [index, sandbox] of selected.entries())
      if (reports[index]?.left.length === 0) this.#live.delete(sandbox)
    return {
      removed: reports.reduce((sum, { removed }) => sum + removed, 0),
      left: reports.flatMap(({ left }) => left),
    }
  }

  async taskCleanup(): Promise<void> {
    // Nothing is made for a configuration.
  }

  async list(): Promise<SandboxIdentity[]> {
    return [...this.#live].map(({ identity }) => identity)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#live].map((sandbox) => sandbox.remove()))
    this.#live.clear()
  }
}

function matches(identity: SandboxIdentity, selector: SandboxSelector): boolean {
  return Object.entries(selector).every(([name, value]) => identity[name as keyof SandboxIdentity] === value)
}
