import type http from 'node:http'
import { homedir } from 'node:os'
import Docker from 'dockerode'
import { ConfigError } from '../../../errors.ts'
import { EngineEvents } from '../events/engine-events.ts'
import { NetworkEvents } from '../events/network-events.ts'
import { refuseUnreadable } from './answers.ts'
import { call } from './call.ts'
import { defaultMaxCalls, limitCalls } from './call-turn.ts'
import type { EngineClients } from './clients.ts'
import { chooseEndpoint, describeSearch, type EngineEndpoint } from './endpoint.ts'
import { isConnectionError, toEngineError } from './engine-error.ts'
import { PlainHttpAgent, PlainHttpsAgent } from './plain-agent.ts'
import { StreamRegistry } from './stream-registry.ts'

/** What this engine is and can do, as it says itself. */
export interface EngineFacts {
  readonly version: string
  readonly apiVersion: string
  readonly os: string
  readonly architecture: string
  readonly cpus: number
  readonly memoryBytes: number
  readonly cgroupVersion: string
  readonly buildkit: boolean
  readonly runtimes: readonly string[]
  readonly defaultRuntime?: string
  readonly storageDriver: string
  /** Its folder, on its own host. */
  readonly dataRoot: string
}

const OLDEST_API = '1.41'
const NEWEST_API = '1.47'

export function compareVersions(first: string, second: string): number {
  const [a, b] = [first.split('.').map(Number), second.split('.').map(Number)]
  return (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0)
}

/** The API version that is spoken with an engine. */
export function negotiatedVersion({ apiVersion }: Pick<EngineFacts, 'apiVersion'>): string {
  return compareVersions(apiVersion, NEWEST_API) > 0 ? NEWEST_API : apiVersion
}

export interface EngineOptions {
  /** Short calls that are sent at once, looks and changes each (default: eight for each processor, at least 16). */
  readonly maxCalls?: number | undefined
}

/** A connection to one Docker engine. */
export class Engine implements EngineClients {
  readonly control: Docker
  readonly streams: Docker
  readonly endpoint: EngineEndpoint
  readonly facts: EngineFacts
  readonly openStreams = new StreamRegistry()
  readonly events: EngineEvents
  readonly networkEvents: NetworkEvents
  /** Compose project names of the sandboxes that outlive their run: no removal of the run touches them. */
  readonly kept = new Set<string>()
  readonly #agents: readonly { destroy(): void }[]

  constructor(endpoint: EngineEndpoint, facts: EngineFacts, options: EngineOptions = {}) {
    this.endpoint = endpoint
    this.facts = facts
    const version = negotiatedVersion(facts)
    const [control, controlAgent] = makeClient(endpoint, { keepAlive: true, version })
    const [streams, streamAgent] = makeClient(endpoint, { keepAlive: false, version })
    limitCalls(control, options.maxCalls ?? defaultMaxCalls(facts.cpus))
    this.control = control
    this.streams = streams
    this.events = new EngineEvents(this)
    this.networkEvents = new NetworkEvents(this)
    this.#agents = [controlAgent, streamAgent]
  }

  close(): void {
    this.events.close()
    this.networkEvents.close()
    this.openStreams.destroyAll()
    for (const agent of this.#agents) agent.destroy()
  }
}

function makeClient(
  endpoint: EngineEndpoint,
  options: { keepAlive: boolean; version?: string },
): [Docker, PlainHttpAgent | PlainHttpsAgent] {
  const { keepAlive, version } = options
  const agent = endpoint.tls ? new PlainHttpsAgent({ keepAlive }) : new PlainHttpAgent({ keepAlive })
  const clientOptions: Docker.DockerOptions & { agent: http.Agent } = {
    ...endpoint.address,
    ...endpoint.tls,
    protocol: endpoint.tls ? 'https' : 'http',
    agent,
    ...(version && { version: `v${version}` }),
  }
  const client = new Docker(clientOptions)
  refuseUnreadable(client)
  return [client, agent]
}

interface ServerInfo {
  readonly NCPU?: number
  readonly MemTotal?: number
  readonly CgroupVersion?: string
  readonly Runtimes?: Record<string, unknown>
  readonly DefaultRuntime?: string
  readonly Driver?: string
  readonly DockerRootDir?: string
}

async function readFacts(client: Docker, signal: AbortSignal | undefined): Promise<EngineFacts> {
  const options = { signal, deadlineMs: 10_000 }
  const version = await call('version of the Docker engine', options, () => client.version())
  if (compareVersions(version.ApiVersion, OLDEST_API) < 0) {
    throw new ConfigError(
      `the Docker engine is version ${version.Version} (API ${version.ApiVersion}); belljar needs Engine 20.10 (API ${OLDEST_API}) or newer`,
    )
  }
  const info = (await call('facts of the Docker engine', options, () => client.info())) as ServerInfo
  const components = (version as { Components?: { Name: string }[] }).Components ?? []
  return {
    version: version.Version,
    apiVersion: version.ApiVersion,
    os: version.Os,
    architecture: version.Arch,
    cpus: info.NCPU ?? 1,
    memoryBytes: info.MemTotal ?? 0,
    cgroupVersion: info.CgroupVersion ?? 'unknown',
    buildkit: version.Os === 'linux' && !components.some(({ Name }) => Name === 'Podman Engine'),
    runtimes: Object.keys(info.Runtimes ?? {}),
    ...(info.DefaultRuntime !== undefined && { defaultRuntime: info.DefaultRuntime }),
    storageDriver: info.Driver ?? 'unknown',
    dataRoot: info.DockerRootDir ?? 'unknown',
  }
}

export interface ConnectOptions extends EngineOptions {
  readonly environment?: NodeJS.ProcessEnv
  readonly home?: string
  readonly signal?: AbortSignal
}

/** Finds the engine, reads its version and refuses one that is too old. @throws ConfigError */
export async function connectEngine(options: ConnectOptions = {}): Promise<Engine> {
  const environment = options.environment ?? process.env
  const endpoint = chooseEndpoint(environment, options.home ?? homedir())
  const [client, agent] = makeClient(endpoint, { keepAlive: false })
  try {
    return new Engine(endpoint, await readFacts(client, options.signal), options)
  } catch (error) {
    options.signal?.throwIfAborted()
    if (error instanceof ConfigError) throw error
    const engineError = toEngineError(endpoint.description, error)
    const hint = isConnectionError(engineError)
      ? 'is it running (`docker info`), and may this user use it? Else set DOCKER_HOST.'
      : 'is it a Docker engine?'
    throw new ConfigError(
      `no Docker engine answers. Tried: ${describeSearch(environment, endpoint)}. ${engineError.message}; ${hint}`,
      { cause: error },
    )
  } finally {
    agent.destroy()
  }
}
