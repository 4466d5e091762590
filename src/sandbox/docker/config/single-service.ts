import type { DockerConfig } from '../../../sample/sandbox-spec.ts'
import type { ContainerPlan, ImagePlan, NetworkPlan, SandboxPlan } from '../../sandbox-plan.ts'
import { memoryBytes } from './memory-size.ts'

const DEFAULT_PIDS_LIMIT = 4096
const NANO = 1e9
/** What root in a hardened container keeps: enough to switch users, to kill and to own files. */
const STRICT_CAPABILITIES = ['SETUID', 'SETGID', 'KILL', 'SETPCAP', 'DAC_OVERRIDE', 'CHOWN']
const LOG_CONFIG = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '1' } }

function hostConfig(config: DockerConfig): Record<string, unknown> {
  const strict = { CapDrop: ['ALL'], CapAdd: STRICT_CAPABILITIES, SecurityOpt: ['no-new-privileges'] }
  return {
    ...((config.network ?? 'none') === 'none' && { NetworkMode: 'none' }),
    Init: true,
    PidsLimit: config.pidsLimit ?? DEFAULT_PIDS_LIMIT,
    AutoRemove: false,
    LogConfig: LOG_CONFIG,
    ...(config.memory !== undefined && memoryLimits(config.memory)),
    ...(config.cpus !== undefined && { NanoCpus: Math.round(config.cpus * NANO) }),
    ...(config.runtime !== undefined && { Runtime: config.runtime }),
    ...(config.hardening === 'strict' && strict),
  }
}

/** Without a swap limit of its own a container may swap as much again. */
function memoryLimits(memory: string | number): Record<string, number> {
  const bytes = memoryBytes(memory)
  return { Memory: bytes, MemorySwap: bytes }
}

/**
 * The way out, one for all sandboxes of a run: making one takes as long as making a container. Unlike on the engine's
 * default network, they cannot reach each other on it.
 */
const INTERNET: NetworkPlan = {
  name: 'internet',
  internal: false,
  perRun: true,
  options: { 'com.docker.network.bridge.enable_icc': 'false' },
}

/** What an allow-list is put on: a network of the sandbox's own. */
const OWN: NetworkPlan = { name: 'default', internal: false }

function networksOf({ network = 'none' }: DockerConfig): NetworkPlan[] {
  if (network === 'none') return []
  return network === 'internet' ? [INTERNET] : [OWN]
}

/** The plan of a sandbox that is one container of an image or Dockerfile, with belljar's own defaults. @throws ConfigError */
export function singleServicePlan(config: DockerConfig, image: ImagePlan): SandboxPlan {
  const container: ContainerPlan = {
    ...(config.entrypoint !== undefined && { entrypoint: config.entrypoint }),
    command: null,
    env: Object.entries(config.env ?? {}).map(([name, value]) => `${name}=${value}`),
    ...(config.user !== undefined && { user: config.user }),
    ...(config.workdir !== undefined && { workdir: config.workdir }),
    hostConfig: hostConfig(config),
    ...(config.hardening === 'strict' && { strict: true }),
    extra: { StopSignal: 'SIGKILL', StopTimeout: 0, Healthcheck: { Test: ['NONE'] } },
  }
  const networks = networksOf(config)
  const names = networks.map(({ name }) => name)
  return {
    services: [{ name: 'default', image, container, networks: names, dependsOn: [] }],
    networks,
    volumes: [],
    defaultService: 'default',
  }
}
