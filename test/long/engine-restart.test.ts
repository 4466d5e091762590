import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Agent } from '../../src/agent/agent.ts'
import { docker } from '../../src/sample/sandbox-spec.ts'
import { failure, within } from '../docker/guest/support.ts'
import { dockerAt, dockerEval } from '../support/docker-eval.ts'
import { DockerProxy } from '../support/docker-proxy.ts'
import { until } from '../support/reaper.ts'
import { SecondEngine } from '../support/second-engine.ts'

const sandbox = docker({ image: 'busybox:latest' })
const lost = { code: 'sandbox-unavailable' }

async function leftOn(engine: SecondEngine): Promise<string[]> {
  const client = dockerAt(engine.host)
  const [containers, { Volumes }] = await Promise.all([
    client.listContainers({ all: true }),
    client.listVolumes(),
  ])
  return [...containers.map(({ Names }) => String(Names[0])), ...(Volumes ?? []).map(({ Name }) => Name)]
}

it.each([
  { config: '{}', transport: 'guest' },
  { config: '{"live-restore": true}', transport: 'guest' },
  { config: '{}', transport: 'engine' },
  { config: '{"live-restore": true}', transport: 'engine' },
] as const)(
  'a daemon ($config) that is killed and started again fails what runs, through the $transport, and all is attempted again',
  async ({ config, transport }) => {
    await using engine = await SecondEngine.start('restarts', config)
    const seen = new Map<string, unknown[]>()
    let restarted: Promise<void> | undefined
    const agent: Agent = async ({ sandbox: box, sample }) => {
      const id = String(sample.id)
      if (seen.has(id)) return (await box.exec(['echo', 'alive'])).stdout
      const inFlight = failure(box.exec(['sleep', '300']))
      seen.set(id, [])
      await until(() => seen.size === 3)
      await sleep(500)
      restarted ??= engine.kill()
      await restarted
      const errors = [await within(20_000, inFlight), await within(2000, failure(box.exec(['true'])))]
      seen.set(id, errors)
      if (id === '0') await engine.startAgain()
      throw errors[0]
    }
    const dataset = [0, 1, 2].map((id) => ({ id, input: 'x', sandbox }))
    const { records, result } = await dockerEval(
      { dataset, agent, retryInfra: 1 },
      { host: engine.host, maxSandboxes: 3, transport },
    )
    for (const [id, errors] of seen) {
      expect(errors, id).toMatchObject([lost, lost])
      expect(records.get(id), id).toMatchObject({
        status: 'success',
        attempt: 2,
        output: 'alive\n',
        earlier: [{ error: { kind: 'sandbox', code: 'sandbox-unavailable' } }],
      })
    }
    expect(result.left).toEqual([])
    await until(async () => (await leftOn(engine)).length === 0)
  },
)

it.each(['guest', 'engine'] as const)(
  'when the socket of the engine is gone for 20 s in mid-run, through the %s, all samples end right in the end',
  async (transport) => {
    await using engine = await SecondEngine.start('outage')
    await using proxy = await DockerProxy.start([], engine.socket)
    let asleep = 0
    const agent: Agent = async ({ sandbox: box }) => {
      await box.writeFile('/tmp/a', 'a')
      asleep += 1
      await box.exec(['sleep', '1'])
      const { stdout } = await box.exec(['cat', '/tmp/a'])
      return stdout
    }
    const samples = 24
    const outage = (async () => {
      await until(() => asleep >= 7)
      await proxy.shut()
      await sleep(20_000)
      await proxy.open()
    })()
    const { records, result } = await dockerEval(
      {
        dataset: Array.from({ length: samples }, (_, id) => ({ id, input: 'x', sandbox })),
        agent,
        retryInfra: 2,
      },
      { host: proxy.host, maxSandboxes: 4, transport },
    )
    await outage
    expect(records.size).toBe(samples)
    const all = [...records.values()]
    expect(all.map(({ status, output }) => `${status} ${output}`)).toEqual(all.map(() => 'success a'))
    const again = all.flatMap(({ earlier = [] }) => earlier)
    expect(again.length).toBeGreaterThan(0)
    expect(again.every(({ error }) => error.kind === 'sandbox')).toBe(true)
    expect(result.left).toEqual([])
    await until(async () => (await leftOn(engine)).length === 0)
  },
)
