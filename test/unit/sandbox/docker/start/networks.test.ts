import { expect, it } from 'vitest'
import { splitEndpoints } from '../../../../../src/sandbox/docker/container/endpoints.ts'
import type { EngineFacts } from '../../../../../src/sandbox/docker/engine/engine.ts'
import { isolation, missingIsolation } from '../../../../../src/sandbox/docker/network/create-network.ts'
import { parseRoutes } from '../../../../../src/sandbox/docker/network/host-routes.ts'

const engine = (apiVersion: string) => ({ facts: { apiVersion, version: '26.1.5' } as EngineFacts })

it('the routes of a host are read, less its default route', () => {
  const text = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0',
    'tun0\t0000C00A\t00000000\t0001\t0\t0\t0\t0000F0FF\t0\t0\t0',
    '',
  ].join('\n')
  expect(parseRoutes(text)).toEqual(['172.17.0.0/16', '10.192.0.0/12'])
})

it.each([
  ['1.43', 1],
  ['1.44', 2],
  ['1.50', 2],
])('with API %s the create call takes %i of two networks', (apiVersion, count) => {
  const endpoints: [string, { Aliases: string[] }][] = [
    ['one', { Aliases: [] }],
    ['two', { Aliases: [] }],
  ]
  const { created, connected } = splitEndpoints(endpoints, engine(apiVersion))
  expect([created.length, connected.length]).toEqual([count, 2 - count])
})

it('an internal network has no address on the host, and what an engine cannot keep from it is named', () => {
  expect(isolation(engine('1.45'))).toEqual({ 'com.docker.network.bridge.inhibit_ipv4': 'true' })
  expect(isolation(engine('1.48'), true)).toHaveProperty(['com.docker.network.bridge.gateway_mode_ipv6'])
  const lan = { name: 'lan', internal: true }
  expect(missingIsolation(lan, engine('1.45'))).toBeUndefined()
  expect(missingIsolation({ ...lan, ipv6: true }, engine('1.48'))).toBeUndefined()
  expect(missingIsolation({ ...lan, ipv6: true }, engine('1.45'))).toMatch(/'lan' has IPv6.*Engine 26\.1\.5/)
})
