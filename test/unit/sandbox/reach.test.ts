import { describe, expect, it } from 'vitest'
import { planReach } from '../../../src/sandbox/reach.ts'
import type { SandboxPlan, ServicePlan } from '../../../src/sandbox/sandbox-plan.ts'

function service(name: string, fields: Partial<ServicePlan>, networkMode?: string): ServicePlan {
  return {
    name,
    image: { kind: 'reference', reference: 'x', pull: 'never' },
    container: { env: [], extra: {}, hostConfig: networkMode ? { NetworkMode: networkMode } : {} },
    networks: [],
    dependsOn: [],
    ...fields,
  }
}

function reachOf(...services: ServicePlan[]): string {
  const networks = [
    { name: 'open', internal: false },
    { name: 'closed', internal: true },
  ]
  const plan: SandboxPlan = { services, networks, volumes: [], defaultService: 'a' }
  return planReach(plan)
}

describe('planReach', () => {
  it.each<[string, ServicePlan[]]>([
    ['internet: off', [service('a', {}, 'none')]],
    ['internet: on', [service('a', {}, 'host')]],
    ['internet: on', [service('a', { networks: ['open'] })]],
    ['internet: off', [service('a', { networks: ['closed'] }), service('b', {}, 'none')]],
    [
      'internet: on (b)',
      [service('a', { networks: ['closed'] }), service('b', { networks: ['closed', 'open'] })],
    ],
    [
      'internet: on (a, b)',
      [service('a', { networks: ['open'] }), service('b', { joins: { network: 'a' } })],
    ],
    ['internet: off', [service('a', { networks: ['closed'] }), service('b', { joins: { network: 'a' } })]],
  ])('says %s', (expected, services) => {
    expect(reachOf(...services)).toBe(expected)
  })
})
