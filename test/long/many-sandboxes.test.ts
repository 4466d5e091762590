import { expect, test } from 'vitest'
import type { StartedSandbox } from '../../src/sandbox/provider.ts'
import { overlaps, parseSubnet } from '../../src/sandbox/subnets.ts'
import { ComposeRun, sh } from '../support/compose.ts'
import { objectsOfRun } from '../support/engine-objects.ts'

const COMPOSE = `
services:
  main: { image: "busybox:latest", command: sleep 3600, init: true, networks: [front, back] }
  db: { image: "busybox:latest", command: sleep 3600, init: true, networks: [back] }
networks: { front: , back: { internal: true } }
`
/** More networks than the engine's own address pools hold. */
const EACH = 20
const AT_ONCE = 4

async function startAll(compose: ComposeRun): Promise<StartedSandbox[]> {
  const sandboxes: StartedSandbox[] = []
  let begun = 0
  const worker = async () => {
    while (begun < EACH) {
      begun += 1
      sandboxes.push(await compose.start())
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return sandboxes
}

async function subnetsOf({ run }: ComposeRun): Promise<string[]> {
  const filters = { label: [`belljar.run=${run.run}`] }
  const networks = await run.provider.engine.control.listNetworks({ filters })
  return networks.map(({ IPAM }) => IPAM?.Config?.[0]?.Subnet ?? '')
}

/** As two processes would: each has a provider of its own, and so knows nothing of the other's blocks. */
test('two runs share one engine with 20 sandboxes of two networks each, none short of an address', async () => {
  const options = { subnetRange: '10.215.0.0/20' }
  await using one = await ComposeRun.open(COMPOSE, {}, options)
  await using other = await ComposeRun.open(COMPOSE, {}, options)
  const all = (await Promise.all([one, other].map(startAll))).flat()
  const subnets = (await Promise.all([one, other].map(subnetsOf))).flat().map((text) => parseSubnet(text)!)
  expect(subnets).toHaveLength(4 * EACH)
  for (const [index, subnet] of subnets.entries())
    expect(subnets.slice(index + 1).some((later) => overlaps(later, subnet))).toBe(false)
  for (const sandbox of all) expect(await sh(sandbox.default, 'nslookup db')).toContain('10.215.')
  const removed = await Promise.all(all.map((sandbox) => sandbox.remove()))
  expect(removed.flatMap(({ left }) => left)).toEqual([])
  await one.run.provider.remove({ run: one.run.run })
  expect(await objectsOfRun(one.run.run)).toEqual([])
})
