import { expect, it } from 'vitest'
import { ConfigInitialiser } from '../../../../src/sandbox/config-initialiser.ts'
import { DockerProvider } from '../../../../src/sandbox/docker/docker-provider.ts'
import { fakeEngine } from '../../../support/fake-engine.ts'

const IMAGE = { Id: 'sha256:1', Os: 'linux', Architecture: 'amd64', Config: {} }
const noSleep = async () => undefined

it.each([
  ['drops a call', undefined],
  ['is busy', 429],
  ['has a fault of its own', 500],
])('an engine that %s is asked again before a configuration fails', async (_what, status) => {
  let looks = 0
  await using fake = await fakeEngine((sent, reply) => {
    if (sent === 'GET /_ping') return void reply.end('OK')
    looks += 1
    if (looks > 2) reply.end(JSON.stringify(IMAGE))
    else if (status === undefined) reply.destroy()
    else reply.writeHead(status).end('{"message":"not now"}')
  })
  const provider = new DockerProvider(fake.engine, { transport: 'engine' })
  const config = await provider.resolve({ kind: 'docker', config: { image: 'a' } }, { taskDirectory: '/' })
  const initialiser = new ConfigInitialiser(1, noSleep)
  const { facts } = await initialiser.initialise(provider, config, {})
  expect(facts.images).toEqual({ default: 'sha256:1' })
  expect(looks).toBe(3)
})
