import { describe, expect, it } from 'vitest'
import { parseProject } from '../../../../src/sandbox/compose/map/project.ts'
import { checkPolicy, refusalLines } from '../../../../src/sandbox/policy/policy.ts'
import type { HostPath } from '../../../../src/sandbox/policy/refusal.ts'

type Fields = Record<string, unknown>

function namesOf(
  service: Fields,
  { allow = [] as string[], rest = {} as Fields, hostPaths = [] as HostPath[] } = {},
) {
  const { project } = parseProject({ services: { app: { image: 'x', ...service } }, ...rest })
  const subject = {
    project,
    hostPaths,
    seccompProfiles: new Map([['own.json', '{"defaultAction":"SCMP_ACT_ERRNO"}']]),
  }
  return checkPolicy(subject, { taskDirectory: '/task', allow })
}

describe('what is not refused', () => {
  it.each<[string, Fields]>([
    ['Docker`s default capabilities', { cap_add: ['CHOWN', 'CAP_NET_RAW', 'mknod'] }],
    ['dropping capabilities', { cap_drop: ['ALL'] }],
    ['namespaces of services', { network_mode: 'service:b', pid: 'service:b', ipc: 'shareable' }],
    ['no network', { network_mode: 'none' }],
    ['a private control group namespace', { cgroup: 'private' }],
    [
      'ports on loopback or left open',
      { ports: [{ target: 1, host_ip: '127.0.0.1' }, { target: 2 }, { target: 3, host_ip: '::1' }] },
    ],
    ['local logs', { logging: { driver: 'local' } }],
    ['a seccomp profile that refuses by default', { security_opt: ['seccomp:own.json', 'seccomp=builtin'] }],
    ['an AppArmor profile by name', { security_opt: ['apparmor:docker-default'] }],
    ['no new privileges', { security_opt: ['no-new-privileges:true', 'no-new-privileges'] }],
    ['another runtime', { runtime: 'runsc' }],
    ['hosts by address', { extra_hosts: ['db=192.0.2.1'] }],
    ['a build without network', { build: { context: '/task', network: 'none' } }],
    [
      'an inline build cache',
      { build: { context: '/task', cache_to: ['type=inline'], cache_from: ['image:tag'] } },
    ],
  ])('%s', (_, service) => {
    expect(namesOf(service)).toEqual([])
  })

  it('is what comes from the task`s folder', () => {
    const path = { place: 'p', use: 'bind' as const, remote: false, path: '/task/a', real: '/task/a' }
    expect(namesOf({}, { hostPaths: [path, { ...path, path: '/task', real: '/task' }] })).toEqual([])
  })
})

describe('allow', () => {
  const service = { privileged: true, cap_add: ['NET_ADMIN', 'SYS_PTRACE'], pid: 'host' }

  it('unlocks what it names and nothing else', () => {
    const all = namesOf(service).map(({ allow }) => allow)
    expect(all).toEqual(['privileged', 'cap-add:NET_ADMIN', 'cap-add:SYS_PTRACE', 'host-pid'])
    for (const name of all) {
      const left = namesOf(service, { allow: [name] }).map(({ allow }) => allow)
      expect(left).toEqual(all.filter((other) => other !== name))
    }
    expect(namesOf(service, { allow: all })).toEqual([])
  })

  it('has no wildcard, and knows no prefix', () => {
    const allow = ['*', 'cap-add', 'cap-add:', 'cap-add:*', 'host', 'PRIVILEGED']
    expect(namesOf(service, { allow })).toHaveLength(4)
  })

  it('is shown beside each reason', () => {
    expect(refusalLines(namesOf({ privileged: true }))).toEqual([
      "  services.app.privileged: full access to the host (allow: 'privileged')",
    ])
  })
})

describe('a path outside', () => {
  it('says where a link really leads', () => {
    const hostPaths = [{ place: 'p', use: 'bind' as const, remote: false, path: '/task/link', real: '/etc' }]
    expect(namesOf({}, { hostPaths })).toMatchObject([
      { why: 'a folder or file of the host (/task/link, really /etc)', allow: 'bind:/task/link' },
    ])
  })

  it('is the engine`s socket by whatever name', () => {
    const hostPaths = [
      { place: 'p', use: 'bind' as const, remote: false, path: '/task/s', real: '/run/docker.sock' },
    ]
    expect(namesOf({}, { hostPaths })).toMatchObject([{ allow: 'docker-socket' }])
  })
})
