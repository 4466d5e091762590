import type { SandboxIdentity, SandboxSelector } from '../sample/identity.ts'
import type { SandboxSpec } from '../sample/sandbox-spec.ts'
import type { Sleep } from '../util/abort.ts'
import type { SecretValue } from '../util/secret-mask.ts'
import type { Sandbox } from './sandbox.ts'

/** Makes and removes the sandboxes of one kind. Only SandboxManager calls it. */
export interface SandboxProvider {
  readonly kind: string
  /** Reads the files that the specification names and may run `docker compose config`; contacts no engine. @throws ConfigError */
  resolve(spec: SandboxSpec, context: ResolveContext): Promise<ResolvedConfig>
  /** Builds or pulls, and validates; the manager calls it once per key. @throws SandboxInitError, ConfigError */
  taskInit(config: ResolvedConfig, context: ProviderContext): Promise<ConfigFacts>
  /** Everything that it creates carries the identity's labels and a name chosen before the call. On failure the caller removes by identity. */
  sampleInit(
    config: ResolvedConfig,
    identity: SandboxIdentity,
    context: ProviderContext,
  ): Promise<StartedSandbox>
  /** Removes by label whatever belongs to the selector; idempotent; attempts everything. Never throws for an object that would not go. */
  remove(selector: SandboxSelector): Promise<RemovalReport>
  /** What a configuration needs built and is not yet, for a run that may build nothing. */
  missingImages?(config: ResolvedConfig): Promise<string[]>
  taskCleanup(config: ResolvedConfig): Promise<void>
  list(): Promise<SandboxIdentity[]>
  /** Told whose the sandboxes are that will be made, before any is; what the provider does about it begins with the first of them. */
  claim?(claim: RunClaim): void
  /** Takes a sandbox out of what the run removes. @throws when it cannot be kept */
  keep?(identity: SandboxIdentity): Promise<KeptSandbox>
  /** The run ends although not all of it has been removed: what outlives the run is to go on with it. */
  abandon?(): void
  /** Closes connections; nothing may be called afterwards. */
  close(): Promise<void>
}

/** Which sandboxes outlive their run: those of samples that ended with an error, or all. */
export type Keep = 'none' | 'failed' | 'all'

/** A sandbox that outlives its run. */
export interface KeptSandbox {
  readonly identity: SandboxIdentity
  /** The shell command that opens a shell in it, by service. */
  readonly enter: Readonly<Record<string, string>>
  /** The shell command that removes it. */
  readonly remove: string
}

/** The run that a provider works for. */
export interface RunClaim {
  readonly run: string
  readonly keep?: Keep | undefined
  /** false: no process outlives a killed run to remove what it leaves (default true). */
  readonly reaper?: boolean | undefined
  /** Something that concerns the run and none of its tasks. */
  readonly note: (level: 'info' | 'warning', message: string) => void
  readonly sleep?: Sleep | undefined
}

export interface ResolveContext {
  /** Absolute folder that relative paths start at and that a configuration may read from. */
  readonly taskDirectory: string
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Names of what is refused unless the task asks for it, such as `privileged` or `cap-add:NET_ADMIN`. */
  readonly allow?: readonly string[] | undefined
  readonly signal?: AbortSignal
}

export interface ProviderContext {
  readonly signal?: AbortSignal
  readonly report?: (report: SandboxReport) => void
  /** Told what the services of a sandbox have printed before a start that failed is torn down. Never rejects. */
  readonly onServiceLogs?: (logs: readonly ServiceLog[]) => Promise<void>
}

/** The end of what the main process of one container of a service has printed. */
export interface ServiceLog {
  readonly service: string
  /** From 1: which of the service's containers. */
  readonly number: number
  /** Hostile: escape before printing. */
  readonly text: string
  /** How much before it is left out. */
  readonly omittedBytes: number
}

/** Something that a person or the log should know about a sandbox's preparation or life. */
export interface SandboxReport {
  readonly kind: 'build' | 'pull' | 'start' | 'warning' | 'teardown'
  readonly message: string
}

/** A specification with all it names read and hashed. Two with one key are one configuration. */
export interface ResolvedConfig {
  readonly kind: string
  /** Hash of everything that makes a difference to the sandbox: hex, 16 digits or more. */
  readonly key: string
  /** For people, such as `image debian:bookworm-slim` or `compose compose.yaml`. */
  readonly description: string
  /** What each service can reach, such as `internet: off`. */
  readonly reach: string
  /** Values that it gives to sandboxes and that no log may show. */
  readonly secrets?: readonly SecretValue[]
  /** The provider's own. */
  readonly data: unknown
}

/** What a configuration turned out to be. */
export interface ConfigFacts {
  /** Image id or digest by service. */
  readonly images: Readonly<Record<string, string>>
  readonly planDigest: string
  /** How commands and files reach each service, where there is a choice. */
  readonly transports?: Readonly<Record<string, 'guest' | 'engine'>>
}

export interface StopOptions {
  /** Also what earlier commands left running (default false). */
  readonly leftBehind?: boolean
}

export interface StartedSandbox extends AsyncDisposable {
  readonly services: ReadonlyMap<string, Sandbox>
  readonly default: Sandbox
  /** Kills the commands still in flight, with their whole trees, and waits for it. Returns their argv. */
  stopCommands(options?: StopOptions): Promise<readonly (readonly string[])[]>
  /** Names of what commands that have ended left running, where that can be told. */
  leftRunning?(): Promise<readonly string[]>
  /** What its services have printed, as far as their main processes are not belljar's. Never rejects. */
  serviceLogs?(): Promise<readonly ServiceLog[]>
  /** Lets it live on when this process ends. */
  keep?(): Promise<void>
  /** Removes everything of this sandbox; idempotent. */
  remove(): Promise<RemovalReport>
}

export type RemovedKind = 'container' | 'network' | 'volume' | 'image' | 'folder'

export interface LeftObject {
  readonly kind: RemovedKind
  readonly name: string
  readonly reason: string
  /** The shell command with which a person removes it. */
  readonly command: string
}

export interface RemovalReport {
  readonly removed: number
  readonly left: readonly LeftObject[]
}
