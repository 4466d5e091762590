import { describe, expect, it } from 'vitest'
import { allowListPlan } from '../../../../src/sandbox/egress/allow-list-plan.ts'
import type { SandboxPlan, ServicePlan } from '../../../../src/sandbox/sandbox-plan.ts'

type Fields = Partial<Omit<ServicePlan, 'container'>> & {
  hostConfig?: object
  extra?: object
  env?: string[]
}

function service(
  name: string,
  { hostConfig = {}, extra = {}, env = [], ...fields }: Fields = {},
): ServicePlan {
  return {
    name,
    image: { kind: 'reference', reference: 'busybox', pull: 'missing' },
    container: { env, hostConfig: { ...hostConfig }, extra: { ...extra } },
    networks: ['front'],
    dependsOn: [],
    ...fields,
  }
}

function plan(
  services: ServicePlan[],
  networks: SandboxPlan['networks'] = [{ name: 'front', internal: false }],
) {
  return { services, networks, volumes: [], defaultService: services[0]?.name ?? '' } satisfies SandboxPlan
}

const ALLOW = ['pypi.org', '*.example.com', '203.0.113.7']

function closed(given: SandboxPlan, allow = ALLOW) {
  const made = allowListPlan(given, allow)
  const byName = new Map(made.plan.services.map((one) => [one.name, one]))
  return { ...made, service: (name: string) => byName.get(name)! }
}

describe('a plan under an allow-list', () => {
  it('has no network with a way out but the gateway`s', () => {
    const networks = [
      {
        name: 'front',
        internal: false,
        ipv6: true,
        options: { 'com.docker.network.bridge.inhibit_ipv4': 'false' },
      },
      { name: 'back', internal: true },
    ]
    const {
      plan: made,
      service: of,
      rewritings,
    } = closed(plan([service('web', { networks: ['front', 'back'] })], networks))
    expect(made.networks).toEqual([
      { name: 'front', internal: true },
      { name: 'back', internal: true },
      expect.objectContaining({ name: 'belljar-egress', internal: false, perRun: true }),
    ])
    expect(of('belljar-egress').networks).toEqual(['belljar-egress', 'front'])
    expect(rewritings).toEqual([
      'networks.front: no IPv6 under an allow-list',
      expect.stringContaining('networks.front.driver_opts.com.docker.network.bridge.inhibit_ipv4'),
    ])
  })

  it('gives a service a network namespace that is held for it, with all that belongs to one', () => {
    const given = service('web', {
      replicas: 2,
      endpoints: { front: { Aliases: ['web', 'www'] } },
      hostConfig: {
        Dns: ['9.9.9.9'],
        ExtraHosts: ['a:1.2.3.4'],
        Memory: 1,
        PortBindings: { '80/tcp': [] },
        Sysctls: { 'net.core.somaxconn': '9', 'kernel.shm_rmid_forced': '1' },
      },
      extra: { Hostname: 'the-web', ExposedPorts: { '80/tcp': {} }, Tty: true },
    })
    const { service: of, rewritings } = closed(plan([given]))
    expect(of('belljar-net-web')).toMatchObject({
      replicas: 2,
      image: { kind: 'egress' },
      networks: ['front'],
      endpoints: { front: { Aliases: ['web', 'www'] } },
      container: {
        helper: true,
        hostConfig: {
          Dns: ['9.9.9.9'],
          ExtraHosts: ['a:1.2.3.4'],
          Sysctls: { 'net.core.somaxconn': '9' },
          CapDrop: ['ALL'],
          CapAdd: ['NET_ADMIN', 'NET_RAW'],
        },
        extra: { Hostname: 'the-web' },
      },
      hooks: { postStart: [{ command: ['/egress', 'seal', 'belljar-egress', 'pypi.org'] }] },
    })
    expect(of('web')).toMatchObject({
      networks: [],
      joins: { network: 'belljar-net-web' },
      joinsByNumber: true,
    })
    expect(of('web')).not.toHaveProperty('endpoints')
    expect(of('web').container.hostConfig).toEqual({
      Memory: 1,
      Sysctls: { 'kernel.shm_rmid_forced': '1' },
      CapDrop: ['CAP_NET_RAW', 'CAP_NET_ADMIN'],
    })
    expect(of('web').container.extra).toEqual({ Tty: true })
    expect(rewritings).toEqual(['services.web.ports: not published under an allow-list'])
  })

  it('drops what could get past the filter, and adds no more than was dropped already', () => {
    const { service: of } = closed(
      plan([
        service('a', { hostConfig: { CapDrop: ['CAP_MKNOD'] } }),
        service('b', { hostConfig: { CapDrop: ['ALL'] } }),
      ]),
    )
    expect(of('a').container.hostConfig.CapDrop).toEqual(['CAP_MKNOD', 'CAP_NET_RAW', 'CAP_NET_ADMIN'])
    expect(of('b').container.hostConfig.CapDrop).toEqual(['ALL'])
  })

  it('tells programs of the proxy, unless the file names one, and not for siblings', () => {
    const { service: of } = closed(
      plan([
        service('web', { endpoints: { front: { Aliases: ['web', 'www'] } } }),
        service('own', { env: ['HTTP_PROXY=http://mine', 'A=b'] }),
      ]),
    )
    const proxy = 'http://belljar-egress:3128'
    const direct = 'localhost,127.0.0.1,::1,web,www,own'
    expect(of('web').container.env).toEqual([
      `http_proxy=${proxy}`,
      `HTTP_PROXY=${proxy}`,
      `https_proxy=${proxy}`,
      `HTTPS_PROXY=${proxy}`,
      `no_proxy=${direct}`,
      `NO_PROXY=${direct}`,
    ])
    expect(of('own').container.env).toContain('HTTP_PROXY=http://mine')
    expect(of('own').container.env).not.toContain(`http_proxy=${proxy}`)
    expect(of('own').dependsOn).toContainEqual({
      service: 'belljar-egress',
      condition: 'started',
      required: true,
    })
  })

  it('opens nothing for services that were closed, and does not touch those without a network', () => {
    const networks = [
      { name: 'front', internal: false },
      { name: 'back', internal: true },
    ]
    const lone = service('lone', { networks: [], hostConfig: { NetworkMode: 'none' } })
    const beside = service('beside', { networks: [], joins: { network: 'lone' } })
    const { service: of, reach } = closed(
      plan([service('web'), service('db', { networks: ['back'] }), lone, beside], networks),
    )
    expect(of('db').container.env).toEqual([])
    expect(of('db').dependsOn).toEqual([])
    expect(of('db').joins).toEqual({ network: 'belljar-net-db' })
    expect(of('belljar-net-db').hooks?.postStart[0]?.command).toEqual(['/egress', 'seal', 'belljar-egress'])
    expect(of('lone')).toEqual(lone)
    expect(of('beside')).toEqual(beside)
    expect(reach).toBe('internet: only pypi.org, *.example.com, 203.0.113.7 (web)')
  })

  it('without a way out there is no gateway, and the filter all the same', () => {
    const { plan: made, reach } = closed(plan([service('db')], [{ name: 'front', internal: true }]))
    expect(made.services.map(({ name }) => name)).toEqual(['belljar-net-db', 'db'])
    expect(reach).toBe('internet: off')
  })

  it('services in the namespace of another join the one that is held for it', () => {
    const { service: of } = closed(
      plan([
        service('web'),
        service('side', { networks: [], joins: { network: 'web', ipc: 'web' } }),
        service('far', { networks: [], joins: { network: 'side' } }),
      ]),
    )
    for (const name of ['side', 'far']) {
      expect(of(name).joins?.network).toBe('belljar-net-web')
      expect(of(name)).not.toHaveProperty('joinsByNumber')
      expect(of(name).container.hostConfig.CapDrop).toContain('CAP_NET_RAW')
    }
    expect(of('side').joins?.ipc).toBe('web')
  })

  it('links lead to the namespace of their target, which is waited for still', () => {
    const { service: of } = closed(
      plan([service('db'), service('web', { links: [{ service: 'db', alias: 'store' }] })]),
    )
    expect(of('belljar-net-web').links).toEqual([{ service: 'belljar-net-db', alias: 'store' }])
    expect(of('web')).not.toHaveProperty('links')
    expect(of('web').dependsOn).toContainEqual({ service: 'db', condition: 'started', required: true })
  })

  it('a sibling of an allowed name answers to it itself', () => {
    const web = service('web')
    const mock = service('mock', { endpoints: { front: { Aliases: ['mock', 'pypi.org'] } } })
    const { service: of } = closed(plan([web, mock]))
    expect(of('belljar-net-web').hooks?.postStart[0]?.command).toEqual(['/egress', 'seal', 'belljar-egress'])
  })

  it('leaves the plan that it was given as it was', () => {
    const given = plan([service('web', { extra: { Hostname: 'x' } })])
    const before = structuredClone(given)
    allowListPlan(given, ALLOW)
    expect(given).toEqual(before)
  })
})
