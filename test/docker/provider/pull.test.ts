import { afterEach, beforeEach, expect, test } from 'vitest'
import { SandboxInitError } from '../../../src/errors.ts'
import { connectEngine, type Engine } from '../../../src/sandbox/docker/engine/engine.ts'
import { Images } from '../../../src/sandbox/docker/image/images.ts'
import type { Clock } from '../../../src/sandbox/docker/image/pull.ts'
import type { PullPolicy } from '../../../src/sandbox/sandbox-plan.ts'
import { FakeRegistry } from '../../support/docker-registry.ts'

let engine: Engine
let registry: FakeRegistry
let pauses: number[]

beforeEach(async () => {
  engine = await connectEngine()
  registry = await FakeRegistry.start()
  pauses = []
})

afterEach(async () => {
  await engine.control
    .getImage(registry.image)
    .remove({ force: true })
    .catch(() => undefined)
  await registry[Symbol.asyncDispose]()
  engine.close()
})

function prepare(
  options: { reference?: string; pull?: PullPolicy; signal?: AbortSignal; platform?: string } = {},
) {
  const { reference = registry.image, pull = 'missing', signal, platform } = options
  const clock = {
    sleep: async (ms: number) => {
      pauses.push(ms)
    },
  }
  const plan = { kind: 'reference' as const, reference, pull, ...(platform && { platform }) }
  return new Images(engine, { clock }).prepare(plan, { ...(signal && { signal }) })
}

/** Requests for the manifest that one pull makes: the engine asks more than once. */
async function requestsOfOnePull(): Promise<number> {
  await prepare()
  const count = registry.manifestRequests
  await engine.control.getImage(registry.image).remove({ force: true })
  registry.manifestRequests = 0
  return count
}

test('an absent image is pulled once, however many ask, and not again when it is there', async () => {
  const once = await requestsOfOnePull()
  const images = await Promise.all(Array.from({ length: 8 }, () => prepare()))
  expect(new Set(images.map(({ id }) => id)).size).toBe(1)
  const requests = registry.manifestRequests
  expect(requests).toBeLessThanOrEqual(once)
  await prepare()
  expect(registry.manifestRequests).toBe(requests)
  await prepare({ pull: 'always' })
  expect(registry.manifestRequests).toBeGreaterThan(requests)
})

test.each([
  ['429', { status: 429, headers: { 'Retry-After': '1' }, body: 'slow down' }],
  ['503', { status: 503, body: 'overloaded' }],
  ['a reset connection', { status: 0, reset: true }],
])('after %s it is tried again and succeeds', async (_name, fault) => {
  // The engine asks again by itself, over https and without a cache, before it gives up on one pull.
  registry.faults.push(...Array.from({ length: 3 }, () => fault))
  const image = await prepare()
  expect(image.id).toMatch(/^sha256:/)
  expect(pauses.length).toBeGreaterThan(0)
  expect(pauses).toEqual([1000, 2000, 4000, 8000].slice(0, pauses.length))
})

test('a limit that stays ends the pull after some attempts, with what the registry says', async () => {
  const body = JSON.stringify({ errors: [{ code: 'TOOMANYREQUESTS', message: 'only 100 pulls an hour' }] })
  const fault = { status: 429, headers: { 'Content-Type': 'application/json' }, body }
  registry.faults.push(...Array.from({ length: 100 }, () => fault))
  const error = await prepare().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SandboxInitError)
  expect(error).toMatchObject({
    transient: false,
    message: expect.stringContaining('only 100 pulls an hour'),
  })
  expect(pauses).toEqual([1000, 2000, 4000, 8000])
})

test('what the registry does not have is not asked for again', async () => {
  const reference = `${registry.address}/other:v9`
  const error = await prepare({ reference }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SandboxInitError)
  expect(error).toMatchObject({ transient: false, message: expect.stringContaining(reference) })
  expect((error as Error).message).toMatch(/no such thing|manifest unknown|not found/)
  expect(pauses).toEqual([])
})

test('with the policy never, an absent image is an error and the registry is left alone', async () => {
  await expect(prepare({ pull: 'never' })).rejects.toThrow("'never'")
  expect(registry.manifestRequests).toBe(0)
})

test('a pull that is waiting for its next attempt ends when it is aborted', async () => {
  registry.faults.push(...Array.from({ length: 100 }, () => ({ status: 503 })))
  const controller = new AbortController()
  const clock: Clock = {
    sleep: (_ms, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        controller.abort(new Error('enough'))
      }),
  }
  const images = new Images(engine, { clock })
  const plan = { kind: 'reference' as const, reference: registry.image, pull: 'missing' as const }
  await expect(images.prepare(plan, { signal: controller.signal })).rejects.toThrow('enough')
})

test('an image of another platform is refused with both named', async () => {
  await using arm = await FakeRegistry.start({ os: 'linux', architecture: 'arm64' })
  const error = await prepare({ reference: arm.image, platform: 'linux/arm64' })
    .then(
      () => prepare({ reference: arm.image }),
      (thrown: unknown) => thrown,
    )
    .catch((thrown: unknown) => thrown)
  await engine.control
    .getImage(arm.image)
    .remove({ force: true })
    .catch(() => undefined)
  expect(error).toMatchObject({ message: expect.stringMatching(/linux\/arm64.*linux\/amd64/) })
})
