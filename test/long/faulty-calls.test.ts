import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failure, startCompose } from '../docker/guest/support.ts'
import { DockerRun } from '../support/docker.ts'
import type { Fault } from '../support/docker-faults.ts'
import { DockerProxy } from '../support/docker-proxy.ts'

/** What the next calls that fit meet. */
let pending: { readonly call: RegExp; readonly faults: Fault[] } = { call: /^$/, faults: [] }
const meet = (call: RegExp, ...faults: Fault[]) => {
  pending = { call, faults }
}

let proxy: DockerProxy
let environment: NodeJS.ProcessEnv
beforeAll(async () => {
  proxy = await DockerProxy.start(({ method, path }) =>
    pending.call.test(`${method} ${path}`) ? pending.faults.shift() : undefined,
  )
  environment = { ...process.env, DOCKER_HOST: proxy.host }
})
afterAll(() => proxy[Symbol.asyncDispose]())

const CREATE = /^POST \/containers\/create\?.*name=bj-/
const EXEC = /^POST \/exec\/[^/]+\/start/
const SERVICE = 'services: { main: { image: "busybox:latest", network_mode: none, command: sleep 600 } }'
const QUICK: readonly Fault[] = [
  { kind: 'drop-before' },
  { kind: 'drop-after' },
  { kind: 'reset', afterBytes: 0 },
  { kind: 'reset', afterBytes: 40 },
  { kind: 'truncate', afterBytes: 0 },
  { kind: 'truncate', afterBytes: 40 },
  { kind: 'garbage' },
  { kind: 'duplicate' },
  { kind: 'slow', bytes: 8, ms: 5 },
  { kind: 'delay-call', ms: 500 },
  { kind: 'delay-reply', ms: 500 },
  { kind: 'answer', status: 500, body: '{"message":"busy"}' },
  { kind: 'answer', status: 429, body: '{"message":"busy"}' },
]
const named = (faults: readonly Fault[]) => faults.map((fault) => [JSON.stringify(fault), fault] as const)

describe('whatever becomes of a create', () => {
  let run: DockerRun
  beforeAll(async () => {
    run = await DockerRun.open({ environment, transport: 'engine' })
  })
  afterAll(() => run[Symbol.asyncDispose]())

  it.each(named(QUICK))('the sandbox starts, once: %s', async (_name, fault) => {
    meet(CREATE, fault)
    const identity = run.identity()
    const started = await run.start(undefined, { identity })
    expect(pending.faults).toEqual([])
    expect((await started.default.exec(['echo', 'up'])).stdout).toBe('up\n')
    const filters = { label: [`belljar.run=${run.run}`, `belljar.sample=${identity.sample}`] }
    expect(await run.provider.engine.control.listContainers({ all: true, filters })).toHaveLength(1)
    expect(await started.remove()).toMatchObject({ left: [] })
  })
})

describe('whatever becomes of the start of an exec', () => {
  let run: DockerRun
  beforeAll(async () => {
    run = await DockerRun.open({ environment, transport: 'engine' })
  })
  afterAll(() => run[Symbol.asyncDispose]())

  it('its command runs once or not at all, and its result is right or an error of the sandbox', {
    timeout: 240_000,
  }, async () => {
    const { default: sandbox } = await run.start()
    for (const fault of [...QUICK, { kind: 'stall', afterBytes: 60 } as const]) {
      const what = JSON.stringify(fault)
      await sandbox.exec(['rm', '-f', '/runs'])
      meet(EXEC, fault)
      const script = 'echo ran >> /runs; echo out; echo err >&2; exit 3'
      const outcome = await sandbox.exec(['sh', '-c', script]).catch((error: unknown) => error)
      expect(pending.faults, what).toEqual([])
      const ran = (await sandbox.exec(['sh', '-c', 'cat /runs || true'])).stdout
      if (outcome instanceof Error) expect(outcome, what).toMatchObject({ code: 'sandbox-unavailable' })
      else expect(outcome, what).toMatchObject({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' })
      expect(['', 'ran\n'], what).toContain(ran)
      if (!(outcome instanceof Error)) expect(ran, what).toBe('ran\n')
    }
  })
})

describe('whatever becomes of the start of a guest beside the main process of a service', () => {
  let run: DockerRun
  beforeAll(async () => {
    run = await DockerRun.open({ environment })
  })
  afterAll(() => run[Symbol.asyncDispose]())

  it.each(named(QUICK))('it serves in the end, and nothing else in its place: %s', async (_name, fault) => {
    const reports: string[] = []
    const { default: sandbox } = await startCompose(run, SERVICE, {
      context: { report: ({ message }) => reports.push(message) },
    })
    meet(EXEC, fault)
    const first = await failure(sandbox.exec(['true']))
    if (first !== undefined) expect(first).toMatchObject({ code: 'sandbox-unavailable' })
    expect((await sandbox.exec(['echo', 'up'])).stdout).toBe('up\n')
    expect(reports.join('\n')).not.toMatch(/Engine's own exec is used/)
  })
})
