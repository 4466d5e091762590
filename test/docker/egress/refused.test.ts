import { describe, expect, it } from 'vitest'
import type { DockerConfig } from '../../../src/sample/sandbox-spec.ts'
import type { EngineFacts } from '../../../src/sandbox/docker/engine/engine.ts'
import { DockerRun } from '../../support/docker.ts'
import { tempDir } from '../../support/temp-dir.ts'

const image: DockerConfig = { image: 'busybox:latest', network: { allow: ['allowed.example'] } }
/** As if the engine had said something else of itself. */
async function initialised(facts: Partial<EngineFacts>) {
  await using run = await DockerRun.open()
  Object.assign(run.provider.engine.facts, facts)
  const resolved = await run.provider.resolve({ kind: 'docker', config: image }, { taskDirectory: '/' })
  return await run.provider.taskInit(resolved, {})
}

/** An engine on which no container may change its network. */
function withoutCapabilities({ provider }: DockerRun): void {
  const { control } = provider.engine
  const create = control.createContainer.bind(control)
  control.createContainer = ((options: { HostConfig?: object }) =>
    create({ ...options, HostConfig: { ...options.HostConfig, CapAdd: [] } } as never)) as never
}

async function resolved(config: DockerConfig, allow: string[]) {
  await using run = await DockerRun.open()
  await using folder = await tempDir()
  return await run.provider.resolve({ kind: 'docker', config }, { taskDirectory: folder.path, allow })
}

describe('a network allow-list that cannot be enforced is refused', () => {
  it('where the engine`s resolver asks outside', async () => {
    await expect(initialised({ version: '20.10.24' })).rejects.toThrow(
      /allow-list cannot be enforced here: Engine 20\.10\.24 answers names from outside/,
    )
  })

  it('where there is no program for the engine', async () => {
    await expect(initialised({ architecture: 'riscv64' })).rejects.toThrow(/not built for/)
  })

  it('where the filter cannot be installed', async () => {
    await using run = await DockerRun.open()
    withoutCapabilities(run)
    const config = await run.provider.resolve({ kind: 'docker', config: image }, { taskDirectory: '/' })
    await expect(run.provider.taskInit(config, {})).rejects.toThrow(
      /allow-list cannot be enforced here: nftables filter: Operation not permitted/,
    )
    await expect(run.provider.taskInit(config, {})).rejects.toThrow(/cannot be enforced here/)
  })

  it('where it is lost between the check and a start, which then fails', async () => {
    await using run = await DockerRun.open()
    const config = await run.provider.resolve({ kind: 'docker', config: image }, { taskDirectory: '/' })
    await run.provider.taskInit(config, {})
    withoutCapabilities(run)
    await expect(run.provider.sampleInit(config, run.identity(), {})).rejects.toThrow(/nftables filter/)
  })

  it('beside what could get past it, all of it at once, whatever `allow` names', async () => {
    const service = { image: 'busybox:latest', command: ['sleep', 'infinity'] }
    const services = {
      raw: { ...service, cap_add: ['NET_RAW'] },
      admin: { ...service, cap_add: ['NET_ADMIN'] },
      all: { ...service, privileged: true },
      host: { ...service, network_mode: 'host', pid: 'host' },
      engine: { ...service, volumes: ['/var/run/docker.sock:/s'] },
    }
    const allow = ['cap-add:NET_ADMIN', 'privileged', 'host-network', 'host-pid', 'docker-socket']
    const main = { ...service, 'x-default': true }
    const file: DockerConfig = { services: { ...services, main } }
    expect((await resolved(file, allow)).reach).toMatch(/^internet: on/)
    await expect(resolved({ ...file, network: { allow: ['allowed.example'] } }, allow)).rejects.toThrow(
      [
        'a network allow-list cannot be enforced beside (and no name in `allow` changes that):',
        '  services.admin: the capability NET_ADMIN',
        '  services.all: privileged',
        '  services.engine: the bind mount of /var/run/docker.sock',
        "  services.host: the network namespace 'host'",
        "  services.host: the pid namespace 'host'",
        '  services.raw: the capability NET_RAW',
      ].join('\n'),
    )
  })
})
