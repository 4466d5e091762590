import { ConfigError } from '../../errors.ts'
import type { RunClaim, SandboxProvider } from '../../sandbox/provider.ts'
import { soonAfterAbort } from '../../util/abort.ts'

const CLOSE_GRACE_MS = 1000

/** What a run asks of its Docker provider. */
export interface DockerChoices {
  readonly noBuild?: boolean | undefined
  readonly removeImages?: boolean | undefined
  /** `engine`: no guest in any sandbox. */
  readonly transport?: 'guest' | 'engine' | undefined
  /** Sandboxes started at once. */
  readonly maxStarts?: number | undefined
  /** Short calls sent to the engine at once. */
  readonly maxCalls?: number | undefined
  /** Ends the search for an engine. */
  readonly signal?: AbortSignal | undefined
}

/** Makes the provider of each kind when it is first asked for, once. */
export class ProviderRegistry {
  readonly #factories: Readonly<Record<string, () => Promise<SandboxProvider>>>
  readonly #made = new Map<string, Promise<SandboxProvider>>()

  readonly #claim: RunClaim

  constructor(
    claim: RunClaim,
    factories: Readonly<Record<string, () => Promise<SandboxProvider>>> = {},
    docker: DockerChoices = {},
  ) {
    this.#claim = claim
    this.#factories = { docker: () => connectDocker(docker), local: openLocal, ...factories }
  }

  /** @throws ConfigError for an unknown kind, or when the provider cannot work here (no engine answers, for instance) */
  async get(kind: string): Promise<SandboxProvider> {
    const factory = Object.hasOwn(this.#factories, kind) ? this.#factories[kind] : undefined
    if (!factory)
      throw new ConfigError(
        `unknown sandbox kind '${kind}'; known kinds: ${Object.keys(this.#factories).join(', ')}`,
      )
    let made = this.#made.get(kind)
    if (!made) {
      made = this.#make(factory)
      this.#made.set(kind, made)
    }
    return made
  }

  async #make(factory: () => Promise<SandboxProvider>): Promise<SandboxProvider> {
    const provider = await factory()
    provider.claim?.(this.#claim)
    return provider
  }

  /** Once `stop` was aborted, closing takes moments. */
  async close(stop?: AbortSignal): Promise<void> {
    await soonAfterAbort(this.#close(), { signal: stop, graceMs: CLOSE_GRACE_MS }).catch(() => undefined)
  }

  async #close(): Promise<void> {
    const providers = await Promise.allSettled(this.#made.values())
    await Promise.allSettled(
      providers.map((provider) => (provider.status === 'fulfilled' ? provider.value.close() : undefined)),
    )
  }
}

/** Loaded when first asked for: it is most of what there is to load. */
async function connectDocker(choices: DockerChoices): Promise<SandboxProvider> {
  const { DockerProvider } = await import('../../sandbox/docker/docker-provider.ts')
  return DockerProvider.connect(choices)
}

async function openLocal(): Promise<SandboxProvider> {
  const { LocalProvider } = await import('../../sandbox/local/local-provider.ts')
  return LocalProvider.open()
}
