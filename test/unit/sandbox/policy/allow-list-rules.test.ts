import { describe, expect, it } from 'vitest'
import { allowListRefusals } from '../../../../src/sandbox/policy/allow-list-rules.ts'
import type { NetworkPlan, ServicePlan } from '../../../../src/sandbox/sandbox-plan.ts'

function refusals(
  fields: Partial<ServicePlan> & { hostConfig?: object },
  network: Partial<NetworkPlan> = {},
) {
  const { hostConfig = {}, ...rest } = fields
  const service: ServicePlan = {
    name: 'web',
    image: { kind: 'reference', reference: 'busybox', pull: 'missing' },
    container: { env: [], hostConfig: { ...hostConfig }, extra: {} },
    networks: ['front'],
    dependsOn: [],
    ...rest,
  }
  const networks = [{ name: 'front', internal: false, ...network }]
  return allowListRefusals({ services: [service], networks, volumes: [], defaultService: 'web' })
}

const bind = (Source: string) => ({ Mounts: [{ Type: 'bind', Source, Target: '/x' }] })

describe('beside a network allow-list', () => {
  it.each([
    [{ Privileged: true }, 'privileged'],
    [{ CapAdd: ['CAP_NET_RAW'] }, 'the capability NET_RAW'],
    [{ CapAdd: ['NET_ADMIN'] }, 'the capability NET_ADMIN'],
    [{ CapAdd: ['ALL'] }, 'the capability ALL'],
    [{ CapAdd: ['CAP_SYS_ADMIN'] }, 'the capability SYS_ADMIN'],
    [{ NetworkMode: 'host' }, "the network namespace 'host'"],
    [{ NetworkMode: 'container:other' }, "the network namespace 'container:other'"],
    [{ PidMode: 'host' }, "the pid namespace 'host'"],
    [{ IpcMode: 'host' }, "the ipc namespace 'host'"],
    [{ UsernsMode: 'host' }, "the userns namespace 'host'"],
    [{ Devices: [{ PathOnHost: '/dev/sda' }] }, 'devices of the host'],
    [{ DeviceCgroupRules: ['c 1:3 mr'] }, 'device_cgroup_rules'],
    [{ ReadonlyPaths: [] }, 'systempaths=unconfined'],
    [{ Runtime: 'runsc' }, "the runtime 'runsc'"],
    [{ Sysctls: { 'net.ipv6.conf.all.disable_ipv6': '0' } }, 'the sysctl net.ipv6.conf.all.disable_ipv6'],
    [{ Sysctls: { 'net.ipv4.ip_forward': '1' } }, 'the sysctl net.ipv4.ip_forward'],
    [bind('/var/run/docker.sock'), 'the bind mount of /var/run/docker.sock'],
    [bind('/'), 'the bind mount of /'],
    [bind('/run/'), 'the bind mount of /run/'],
    [{ Binds: ['/run/user/agent.sock:/s'] }, 'the bind mount of /run/user/agent.sock'],
  ])('%j is refused', (hostConfig, what) => {
    expect(refusals({ hostConfig })).toEqual([
      `services.web: ${what.startsWith('systempaths') ? `security_opt ${what}` : what}${String(what).includes('runsc') ? ', whose packets no filter sees' : ''}`,
    ])
  })

  it.each<[Partial<ServicePlan>, string]>([
    [{ networks: [] }, "the engine's own network"],
    [{ name: 'belljar-egress' }, "a name of belljar's own"],
    [{ name: 'belljar-net-web' }, "a name of belljar's own"],
    [{ endpoints: { front: { Aliases: [], DriverOpts: { a: 'b' } } } }, 'driver_opts of an endpoint'],
    [
      { endpoints: { front: { Aliases: [], IPAMConfig: { LinkLocalIPs: ['169.254.8.8'] } } } },
      'link_local_ips',
    ],
    [
      { hooks: { postStart: [{ command: ['a'], env: [], privileged: true }], preStop: [] } },
      'a privileged hook',
    ],
  ])('%j is refused', (fields, what) => {
    expect(refusals(fields)).toEqual([`services.${fields.name ?? 'web'}: ${what}`])
  })

  it.each<[Partial<NetworkPlan>, string]>([
    [{ driver: 'macvlan' }, "networks.front: the driver 'macvlan'"],
    [{ name: 'belljar-egress' }, "networks.belljar-egress: a name of belljar's own"],
  ])('a network with %j is refused', (network, refusal) => {
    expect(refusals({}, network)).toEqual([refusal])
  })

  it.each([
    {},
    { CapAdd: ['CAP_CHOWN', 'SETUID'] },
    { Runtime: 'runc' },
    { Sysctls: { 'net.core.somaxconn': '128' } },
    { DeviceRequests: [{ Count: -1 }] },
    bind('/home/me/task/data'),
    { Mounts: [{ Type: 'volume', Source: 'data', Target: '/x' }] },
  ])('%j is not', (hostConfig) => {
    expect(refusals({ hostConfig })).toEqual([])
  })

  it('a service without a network is not, and all that is wrong is told at once', () => {
    expect(refusals({ networks: [], hostConfig: { NetworkMode: 'none' } })).toEqual([])
    expect(refusals({ networks: [], joins: { network: 'other' } })).toEqual([])
    expect(
      refusals({ hostConfig: { Privileged: true, PidMode: 'host' } }, { driver: 'ipvlan' }),
    ).toHaveLength(3)
  })
})
