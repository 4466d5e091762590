import { createHash } from 'node:crypto'
import { Limiter } from '../../limit/limiter.ts'
import { toJson } from '../../log/journal/jsonl.ts'
import type { Sample } from '../../sample/sample.ts'
import type { SandboxSpec } from '../../sample/sandbox-spec.ts'
import type { InitialisedConfig } from '../../sandbox/config-initialiser.ts'
import type { ProviderContext, ResolvedConfig, SandboxProvider } from '../../sandbox/provider.ts'
import type { SandboxManager } from '../../sandbox/sandbox-manager.ts'
import { stopwatch } from '../../util/clock.ts'
import { JoinedGates } from './joined-gate.ts'

/** Whether the samples of one configuration may start. A gate that has settled stays as it is. */
export interface Gate {
  readonly state: 'pending' | 'ready' | 'failed'
  readonly sandbox?: GateSandbox | undefined
  /** Of the sandbox in which the scorers act, where it is another than the agent's. */
  readonly verifier?: GateSandbox | undefined
  readonly error?: unknown
  /** What is being made ready, once that is known. */
  readonly description?: string | undefined
  /** Resolves when the state is no longer pending; never rejects. */
  readonly settled: Promise<void>
}

export interface GateSandbox {
  readonly provider: SandboxProvider
  readonly initialised: InitialisedConfig
}

/** The gate of samples that need no sandbox. */
export const OPEN: Gate = { state: 'ready', settled: Promise.resolve() }

export interface ConfigGatesOptions {
  readonly manager: SandboxManager
  readonly taskDirectory: string
  /** What the task allows its sandboxes. */
  readonly allow?: readonly string[] | undefined
  /** The specification of a sample: run option, task and sample merged. */
  readonly specOf: (sample: Sample) => SandboxSpec | undefined
  /** The specification of the sandbox in which the scorers of a sample act, where it is another. */
  readonly verifierOf?: (sample: Sample) => SandboxSpec | undefined
  readonly providerOf: (kind: string) => Promise<SandboxProvider>
  readonly context: ProviderContext
  /** Told of a configuration before it is initialised. */
  readonly onResolved?: (config: ResolvedConfig) => void
  /** Told once per configuration key when it begins to be made ready. */
  readonly onBegin?: (config: ResolvedConfig) => void
  readonly onSettled: (outcome: GateOutcome) => void
}

/** Told once per configuration key, or once per specification that could not be resolved. */
export type GateOutcome =
  | { readonly state: 'ready'; readonly initialised: InitialisedConfig }
  | {
      readonly state: 'failed'
      readonly config: ResolvedConfig | undefined
      readonly spec: SandboxSpec
      readonly error: unknown
      readonly durationMs: number
    }

const RESOLVED_AT_ONCE = 8

/** One gate per distinct specification of a task; what a specification names is resolved and initialised on first sight. */
export class ConfigGates {
  readonly #options: ConfigGatesOptions
  readonly #resolved = new Map<string, Promise<ResolvedSpec>>()
  readonly #gates = new Map<string, Gate>()
  readonly #ready = new Map<string, Gate>()
  readonly #told = new Set<string>()
  readonly #joined = new JoinedGates()
  readonly #begun = new Set<string>()
  readonly #limiter = new Limiter(RESOLVED_AT_ONCE)

  constructor(options: ConfigGatesOptions) {
    this.#options = options
  }

  /** Resolves what samples ask for, initialising nothing. Returns each distinct configuration once. @throws ConfigError */
  async resolve(samples: readonly Sample[]): Promise<ResolvedConfig[]> {
    const asked = samples.flatMap((sample) => [this.#own(sample) ?? [], this.#verifier(sample) ?? []].flat())
    const resolved = await Promise.all(asked.map((request) => this.#resolve(request)))
    return [...new Map(resolved.map(({ config }) => [config.key, config])).values()]
  }

  /** Key of the configuration that a sample asks for, initialising nothing; undefined: of none. @throws ConfigError */
  async keyOf(sample: Sample): Promise<string | undefined> {
    const request = this.#own(sample)
    if (!request) return undefined
    const ready = this.#gates.get(request.key)?.sandbox
    return ready?.initialised.config.key ?? (await this.#resolve(request)).config.key
  }

  gateOf(sample: Sample): Gate {
    const own = this.#gateOf(() => this.#own(sample))
    const verifier = this.#gateOf(() => this.#verifier(sample))
    return verifier === OPEN ? own : this.#joined.of(own, verifier)
  }

  #gateOf(requested: () => SpecRequest | undefined): Gate {
    let request: SpecRequest | undefined
    try {
      request = requested()
    } catch (error) {
      return failedGate(error)
    }
    if (!request) return OPEN
    const known = this.#gates.get(request.key)
    if (known) return known
    const gate = new OpenableGate()
    this.#gates.set(request.key, gate)
    gate.settled = this.#open(gate, request)
    return gate
  }

  #own(sample: Sample): SpecRequest | undefined {
    return this.#request(this.#options.specOf(sample), sample)
  }

  #verifier(sample: Sample): SpecRequest | undefined {
    return this.#request(this.#options.verifierOf?.(sample), sample)
  }

  #request(spec: SandboxSpec | undefined, sample: Sample): SpecRequest | undefined {
    if (spec === undefined) return undefined
    // Only compose files can be filled in from metadata.
    const { config } = spec
    const usesMetadata = config === undefined || config.compose !== undefined || config.services !== undefined
    const metadata = usesMetadata ? sample.metadata : undefined
    const key = createHash('sha256')
      .update(toJson([spec, metadata]))
      .digest('base64')
    return { key, spec, metadata }
  }

  #resolve(request: SpecRequest): Promise<ResolvedSpec> {
    let resolved = this.#resolved.get(request.key)
    if (!resolved) {
      resolved = this.#resolveNow(request)
      this.#resolved.set(request.key, resolved)
    }
    return resolved
  }

  async #resolveNow({ spec, metadata }: SpecRequest): Promise<ResolvedSpec> {
    const { providerOf, taskDirectory, allow, context, onResolved } = this.#options
    using _slot = await this.#limiter.acquire({ signal: context.signal })
    const provider = await providerOf(spec.kind)
    const { signal } = context
    const config = await provider.resolve(spec, { taskDirectory, metadata, allow, signal })
    onResolved?.(config)
    return { provider, config }
  }

  async #open(gate: OpenableGate, request: SpecRequest): Promise<void> {
    const { manager, context } = this.#options
    const time = stopwatch()
    let config: ResolvedConfig | undefined
    try {
      const resolved = await this.#resolve(request)
      config = resolved.config
      gate.description = config.description
      this.#begin(config)
      const initialised = await manager.initialise(resolved.provider, config, context)
      gate.ready({ provider: resolved.provider, initialised })
      this.#keepOne(gate, { request, config })
      this.#tell(config.key, { state: 'ready', initialised })
    } catch (error) {
      gate.fail(error)
      const { durationMs } = time()
      this.#tell(config?.key ?? request.key, {
        state: 'failed',
        config,
        spec: request.spec,
        error,
        durationMs,
      })
    }
  }

  #begin(config: ResolvedConfig): void {
    if (this.#begun.has(config.key)) return
    this.#begun.add(config.key)
    this.#options.onBegin?.(config)
  }

  /** As many specifications as there are samples may name one configuration: what is kept of each is its key. */
  #keepOne(gate: Gate, { request, config }: { request: SpecRequest; config: ResolvedConfig }): void {
    const first = this.#ready.get(config.key) ?? gate
    this.#ready.set(config.key, first)
    this.#gates.set(request.key, first)
    this.#resolved.delete(request.key)
  }

  #tell(key: string, outcome: GateOutcome): void {
    if (this.#told.has(key) || this.#options.context.signal?.aborted) return
    this.#told.add(key)
    this.#options.onSettled(outcome)
  }
}

interface SpecRequest {
  readonly key: string
  readonly spec: SandboxSpec
  readonly metadata: Sample['metadata']
}

interface ResolvedSpec {
  readonly provider: SandboxProvider
  readonly config: ResolvedConfig
}

class OpenableGate implements Gate {
  state: Gate['state'] = 'pending'
  sandbox: GateSandbox | undefined
  error: unknown
  description: string | undefined
  settled: Promise<void> = Promise.resolve()

  ready(sandbox: GateSandbox): void {
    this.sandbox = sandbox
    this.state = 'ready'
  }

  fail(error: unknown): void {
    this.error = error
    this.state = 'failed'
  }
}

function failedGate(error: unknown): Gate {
  const gate = new OpenableGate()
  gate.fail(error)
  return gate
}

/** The error of an eval of which no configuration could be made ready; undefined when one could, or there are none. */
export async function allFailed(gates: readonly Gate[]): Promise<Error | undefined> {
  await Promise.all(gates.map((gate) => gate.settled))
  const [first] = gates
  if (!first || gates.some((gate) => gate.state !== 'failed')) return undefined
  return new Error('no sandbox configuration of the task could be made ready', { cause: first.error })
}
