import type Docker from 'dockerode'
import { expect, it } from 'vitest'
import type { Agent } from '../../src/agent/agent.ts'
import { docker } from '../../src/sample/sandbox-spec.ts'
import { containersOf, type DockerEval, dockerAt, dockerEval } from '../support/docker-eval.ts'
import { failure, within } from './guest/support.ts'

const engine = dockerAt()
const GROW = 'until [ -e /tmp/grow ]; do sleep 0.1; done; x=grow; while :; do x="$$x$$x"; done'
const FILES = {
  'grow.yaml': `services: { box: { image: "busybox:latest", network_mode: none, mem_limit: 24m, command: [sh, -c, '${GROW}'] } }`,
  'two.yaml': `
services:
  main: { image: "busybox:latest", command: sleep infinity, volumes: ['signal:/signal'] }
  db: { image: "busybox:latest", command: [sh, -c, 'until test -e /signal/go; do sleep 0.1; done; echo disk is full; exit 6'], volumes: ['signal:/signal'] }
volumes: { signal: {} }
`,
}
const alone = docker({ image: 'busybox:latest' })

type Containers = ReadonlyMap<string, Docker.Container>
interface Death {
  readonly sandbox: ReturnType<typeof docker>
  readonly die: (containers: Containers, sandbox: Parameters<Agent>[0]['sandbox']) => Promise<unknown>
  readonly message: RegExp
  readonly postMortem: RegExp
}

const of = (containers: Containers, service: string) => containers.get(service) as Docker.Container

const DEATHS: Readonly<Record<string, Death>> = {
  killed: {
    sandbox: alone,
    die: (all) => of(all, 'default').kill(),
    message: /was killed or removed from outside \(exit code 137\)/,
    postMortem: /exit code 137, out of memory false/,
  },
  paused: {
    sandbox: alone,
    die: (all) => of(all, 'default').pause(),
    message: /its container is paused/,
    postMortem: /^status paused/,
  },
  'out of memory': {
    sandbox: docker('grow.yaml'),
    die: (_all, sandbox) => sandbox.exec(['touch', '/tmp/grow']),
    message: /ran out of memory/,
    postMortem: /OOMKilled true/,
  },
  'service crashed': {
    sandbox: docker('two.yaml'),
    die: (_all, sandbox) => sandbox.exec(['touch', '/signal/go']),
    message: /'db' is unavailable: its container exited with code 6/,
    postMortem: /exit code 6[\s\S]*disk is full/,
  },
  'network removed': {
    sandbox: docker('two.yaml'),
    die: async (all) => {
      const { NetworkSettings } = await of(all, 'db').inspect()
      const [name = ''] = Object.keys(NetworkSettings.Networks)
      for (const container of all.values())
        await engine.getNetwork(name).disconnect({ Container: container.id, Force: true })
      await engine.getNetwork(name).remove()
    },
    message: /its network bj-dying-\S+ was removed or taken from it/,
    postMortem: /status running/,
  },
}

/** In its first attempt each sample's sandbox dies under a command; the next call must fail too, and soon. */
async function dying(retryInfra: number): Promise<DockerEval & { next: ReadonlyMap<string, unknown> }> {
  const next = new Map<string, unknown>()
  const agent: Agent = async ({ sandbox, sample }) => {
    const id = String(sample.id)
    if (next.has(id)) return 'alive'
    const inFlight = failure(sandbox.exec(['sleep', '60']))
    await DEATHS[id]?.die(await containersOf(engine, id), sandbox)
    const error = await within(15_000, inFlight)
    next.set(id, await within(2000, failure(sandbox.exec(['true']))))
    throw error
  }
  const dataset = Object.entries(DEATHS).map(([id, { sandbox }]) => ({ id, input: 'die', sandbox }))
  const scorer = { name: 'says alive', score: async () => ({ value: 0 }) }
  const ended = await dockerEval(
    { dataset, agent, scorers: [scorer], retryInfra },
    { files: FILES, maxSandboxes: 5 },
  )
  return { ...ended, next }
}

it('a sandbox that dies is an infrastructure error with cause and post-mortem, never a score, and the next call fails too', async () => {
  const { records, next, result } = await dying(0)
  for (const [id, { message, postMortem }] of Object.entries(DEATHS)) {
    expect(next.get(id), id).toMatchObject({ code: 'sandbox-unavailable' })
    expect(records.get(id), id).toMatchObject({
      status: 'error',
      scores: {},
      error: {
        kind: 'sandbox',
        code: 'sandbox-unavailable',
        message: expect.stringMatching(message),
        postMortem: expect.stringMatching(postMortem),
      },
    })
  }
  expect(result.left).toEqual([])
})

it('with retryInfra it is attempted again from the start in a fresh sandbox', async () => {
  const { records, result } = await dying(1)
  for (const id of Object.keys(DEATHS))
    expect(records.get(id), id).toMatchObject({
      status: 'success',
      attempt: 2,
      output: 'alive',
      earlier: [{ attempt: 1, error: { kind: 'sandbox' } }],
    })
  expect(result.left).toEqual([])
})
