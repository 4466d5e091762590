import { describe, expect, it } from 'vitest'
import type { MapContext } from '../../../../../src/sandbox/compose/map/context.ts'
import { composePlan } from '../../../../../src/sandbox/compose/map/plan.ts'
import { parseProject } from '../../../../../src/sandbox/compose/map/project.ts'
import type { ServicePlan } from '../../../../../src/sandbox/sandbox-plan.ts'

type Fields = Record<string, unknown>

function mapped(services: Record<string, Fields>, rest: Fields = {}) {
  const context: MapContext = {
    seccompProfiles: new Map([['p.json', '{"a":1}']]),
    environment: { TOKEN: 'hush' },
    outsidePaths: new Set(['/outside']),
    inexpressible: [],
    rewritings: [],
  }
  const document = { name: 'p', services, networks: { default: { name: 'p_default' } }, ...rest }
  return { plan: composePlan(parseProject(document), context), context }
}

/** The plan of one service with these keys. */
function planOf(fields: Fields, rest: Fields = {}): ServicePlan {
  const service = mapped({ app: { image: 'x', networks: { default: null }, ...fields } }, rest).plan
    .services[0]
  if (service === undefined) throw new Error('no service')
  return service
}

describe('a service`s image', () => {
  it.each([
    [{}, 'missing'],
    [{ pull_policy: 'always' }, 'always'],
    [{ pull_policy: 'never' }, 'never'],
    [{ pull_policy: 'if_not_present' }, 'missing'],
    [{ pull_policy: 'daily' }, 'always'],
    [{ pull_policy: 'always', 'x-local': true }, 'never'],
  ])('with %j is pulled: %s', (fields, pull) => {
    expect(planOf(fields).image).toEqual({ kind: 'reference', reference: 'x', pull })
  })

  it('is built, also where another service only names what is built', () => {
    const { plan } = mapped({
      main: {
        build: { context: '/c', dockerfile: 'D', args: { A: '1', B: null }, target: 't' },
        image: 'made',
      },
      b: { image: 'made' },
    })
    const build = { context: '/c', dockerfile: 'D', args: { A: '1' }, target: 't' }
    expect(plan.services.map((service) => service.image)).toEqual([
      { kind: 'build', build },
      { kind: 'build', build },
    ])
  })

  it('is built with what only buildx can carry set apart', () => {
    const build = {
      context: '/c',
      dockerfile: 'Dockerfile',
      dockerfile_inline: 'FROM x\nRUN echo $$HOME',
      labels: { a: 'b' },
      no_cache: true,
      pull: true,
      network: 'none',
      shm_size: '1024',
      extra_hosts: ['h=192.0.2.1'],
      cache_from: ['x'],
      secrets: [{ source: 's', target: '/run/secrets/renamed' }, { source: 'e' }],
      additional_contexts: { base: 'docker-image://y' },
      ulimits: { nofile: { soft: 1, hard: 2 } },
      platforms: ['linux/arm64'],
      provenance: 'false',
    }
    const secrets = { s: { file: '/c/s' }, e: { environment: 'TOKEN' } }
    expect(planOf({ image: undefined, build }, { secrets }).image).toEqual({
      kind: 'build',
      build: {
        context: '/c',
        dockerfile: 'Dockerfile',
        dockerfileInline: 'FROM x\nRUN echo $HOME',
        args: {},
        platform: 'linux/arm64',
        options: {
          labels: { a: 'b' },
          nocache: true,
          pull: true,
          extrahosts: ['h:192.0.2.1'],
          shmsize: 1024,
          networkmode: 'none',
          cachefrom: ['x'],
        },
        buildx: {
          secrets: [
            { id: 'renamed', file: '/c/s' },
            { id: 'e', value: 'hush' },
          ],
          ssh: [],
          contexts: { base: 'docker-image://y' },
          ulimits: ['nofile=1:2'],
          allow: [],
          cacheTo: [],
          provenance: 'false',
        },
      },
    })
  })
})

describe('host configuration', () => {
  it.each<[Fields, Fields]>([
    [{ gpus: [{ count: -1 }] }, { DeviceRequests: [{ Count: -1, Capabilities: [['gpu']] }] }],
    [
      { devices: [{ source: 'v.com/c=n', target: 'v.com/c=n', permissions: 'rwm' }] },
      { DeviceRequests: [{ Driver: 'cdi', DeviceIDs: ['v.com/c=n'] }] },
    ],
    [
      { devices: [{ source: '/dev/kvm', target: '/dev/k', permissions: 'r' }] },
      { Devices: [{ PathOnHost: '/dev/kvm', PathInContainer: '/dev/k', CgroupPermissions: 'r' }] },
    ],
    [{ cpus: 0.3333 }, { NanoCpus: 333_300_000 }],
    [{ mem_limit: '537395200' }, { Memory: 537_395_200 }],
    [{ memswap_limit: '-1' }, { MemorySwap: -1 }],
    [
      { security_opt: ['seccomp:p.json', 'no-new-privileges'] },
      { SecurityOpt: ['seccomp={"a":1}', 'no-new-privileges'] },
    ],
    [{ security_opt: ['systempaths=unconfined'] }, { MaskedPaths: [], ReadonlyPaths: [] }],
    [{ restart: 'on-failure:3' }, { RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 3 } }],
    [{ deploy: { restart_policy: { condition: 'none' } } }, { RestartPolicy: { Name: 'no' } }],
    [
      { blkio_config: { weight: 300, device_read_bps: [{ path: '/dev/sda', rate: '12' }] } },
      { BlkioWeight: 300, BlkioDeviceReadBps: [{ Path: '/dev/sda', Rate: 12 }] },
    ],
    [{ extra_hosts: ['v6=::1'] }, { ExtraHosts: ['v6:::1'] }],
    [{ cap_add: ['net_admin', 'ALL'] }, { CapAdd: ['CAP_NET_ADMIN', 'ALL'] }],
    [{ logging: { options: { a: 'b' } } }, { LogConfig: { Type: '', Config: { a: 'b' } } }],
    [{ ulimits: { nproc: 5 } }, { Ulimits: [{ Name: 'nproc', Soft: 5, Hard: 5 }] }],
    [{ init: false }, { Init: false }],
    [{ network_mode: 'none', networks: undefined }, { NetworkMode: 'none' }],
    [{ pid: 'host' }, { PidMode: 'host' }],
    [{ storage_opt: { size: '1G' } }, { StorageOpt: { size: '1G' } }],
  ])('of %j', (fields, expected) => {
    expect(planOf(fields).container.hostConfig).toEqual(expected)
  })

  it('publishes ports on loopback or where the file says, always on an ephemeral port', () => {
    const ports = [
      { target: 80, published: '8080', protocol: 'tcp' },
      { target: 80, published: '8081', protocol: 'tcp' },
      { target: 53, host_ip: '192.0.2.1', published: '53', protocol: 'udp' },
    ]
    expect(planOf({ ports }).container.hostConfig.PortBindings).toEqual({
      '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '' }],
      '53/udp': [{ HostIp: '192.0.2.1', HostPort: '' }],
    })
  })

  it('never creates a missing folder outside the task`s', () => {
    const bind = (source: string) => ({
      type: 'bind',
      source,
      target: '/t',
      bind: { create_host_path: true },
    })
    expect(planOf({ volumes: [bind('/inside')] }).container.hostConfig).toEqual({ Binds: ['/inside:/t:rw'] })
    expect(planOf({ volumes: [bind('/outside')] }).container.hostConfig).toEqual({
      Mounts: [{ Type: 'bind', Source: '/outside', Target: '/t' }],
    })
  })

  it('mounts a source whose name has a colon', () => {
    const volumes = [{ type: 'bind', source: '/a:b', target: '/t', bind: { create_host_path: true } }]
    expect(planOf({ volumes }).container.hostConfig.Mounts).toEqual([
      { Type: 'bind', Source: '/a:b', Target: '/t', BindOptions: { CreateMountpoint: true } },
    ])
  })

  it('mounts an image', () => {
    const volumes = [{ type: 'image', source: 'busybox', target: '/im', image: { subpath: 'bin' } }]
    expect(planOf({ volumes }).container.hostConfig.Mounts).toEqual([
      { Type: 'image', Source: 'busybox', Target: '/im', ImageOptions: { Subpath: 'bin' } },
    ])
  })
})

describe('a service', () => {
  it('keeps the difference between no command, an empty one and the image`s own', () => {
    expect(planOf({ command: null, entrypoint: null }).container).not.toHaveProperty('command')
    expect(planOf({ command: [], entrypoint: [] }).container).toMatchObject({ command: [], entrypoint: [] })
  })

  it('has its secrets and configurations that are no files put into it', () => {
    const fields = {
      secrets: [{ source: 's', target: '/run/secrets/s' }],
      configs: [{ source: 'c', uid: '5', gid: '6', mode: '0400' }],
    }
    const rest = { secrets: { s: { environment: 'TOKEN' } }, configs: { c: { content: 'costs $$5' } } }
    expect(planOf(fields, rest).files).toEqual([
      { path: '/run/secrets/s', content: 'hush', mode: 0o444, uid: 0, gid: 0 },
      { path: '/c', content: 'costs $5', mode: 0o400, uid: 5, gid: 6 },
    ])
  })

  it('has hooks', () => {
    const post_start = [
      { command: ['echo', '$$x'], user: 'root', privileged: true, working_dir: '/', environment: { A: 'b' } },
    ]
    expect(planOf({ post_start }).hooks).toEqual({
      postStart: [{ command: ['echo', '$x'], env: ['A=b'], user: 'root', workdir: '/', privileged: true }],
      preStop: [],
    })
  })

  it('names what is wrong with its health check', () => {
    const healthcheck = { test: ['CMD', 'x'], interval: '100ns' }
    expect(() => planOf({ healthcheck })).toThrow('services.app.healthcheck.interval: expected at least 1ms')
  })

  it('is left out with no replica, and nobody waits for it', () => {
    const { plan } = mapped({
      main: { image: 'x', depends_on: { none: { condition: 'service_healthy' } } },
      none: { image: 'x', deploy: { replicas: 0 } },
    })
    expect(plan.services.map(({ name, dependsOn }) => [name, dependsOn])).toEqual([['main', []]])
  })
})

describe('the start order', () => {
  it('puts each service after those it depends on, links to, or shares namespaces or volumes with', () => {
    const { plan } = mapped({
      a: { image: 'x', 'x-default': true, depends_on: { b: { condition: 'service_started' } } },
      b: { image: 'x', network_mode: 'service:c' },
      c: { image: 'x', links: ['d:alias'] },
      d: { image: 'x', volumes_from: ['e:ro'] },
      e: { image: 'x', pid: 'service:f' },
      f: { image: 'x', ipc: 'service:g' },
      g: { image: 'x' },
    })
    expect(plan.services.map((service) => service.name).join('')).toBe('gfedcba')
    expect(plan.services.find((service) => service.name === 'd')?.volumesFrom).toEqual([
      { service: 'e', readOnly: true },
    ])
    expect(plan.services.find((service) => service.name === 'c')?.links).toEqual([
      { service: 'd', alias: 'alias' },
    ])
  })

  it('is an error where there is none', () => {
    expect(() =>
      mapped({
        a: { image: 'x', 'x-default': true, network_mode: 'service:b' },
        b: { image: 'x', pid: 'service:a' },
      }),
    ).toThrow('in a circle: a, b')
  })
})

describe('leftovers', () => {
  it('are named with their place, at any depth, and extensions are none', () => {
    const { context } = mapped({
      app: {
        image: 'x',
        future: 1,
        'x-own': 2,
        deploy: { resources: { limits: { tape: 1 } } },
        volumes: [{ type: 'cluster', source: 's', target: '/t' }],
      },
    })
    expect(context.inexpressible).toEqual([
      'services.app.deploy.resources.limits.tape',
      'services.app.future',
      'services.app.volumes[0]: a mount of type cluster',
    ])
  })

  it('keeps user names that look like extensions', () => {
    expect(planOf({ environment: { 'x-a': '1' }, labels: { 'x-b': '2' } }).container).toMatchObject({
      env: ['x-a=1'],
      extra: { Labels: { 'x-b': '2' } },
    })
  })
})
