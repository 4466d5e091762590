import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ConfigError } from '../../../../src/errors.ts'
import { chooseEndpoint } from '../../../../src/sandbox/docker/engine/endpoint.ts'
import { compareVersions, connectEngine } from '../../../../src/sandbox/docker/engine/engine.ts'

let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'belljar-home-'))
})
afterEach(() => rm(home, { recursive: true }))

async function addContext(name: string, host: string, current = false): Promise<void> {
  const id = createHash('sha256').update(name).digest('hex')
  const folder = join(home, '.docker', 'contexts', 'meta', id)
  await mkdir(folder, { recursive: true })
  await writeFile(
    join(folder, 'meta.json'),
    JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }),
  )
  if (current) await writeFile(join(home, '.docker', 'config.json'), JSON.stringify({ currentContext: name }))
}

test('DOCKER_HOST comes before the active context, and that before the default socket', async () => {
  const socket = (environment: NodeJS.ProcessEnv) => chooseEndpoint(environment, home).address
  expect(socket({})).toEqual({ socketPath: '/var/run/docker.sock' })
  await addContext('colima', 'unix:///colima.sock', true)
  await addContext('other', 'unix:///other.sock')
  expect(socket({})).toEqual({ socketPath: '/colima.sock' })
  expect(socket({ DOCKER_CONTEXT: 'other' })).toEqual({ socketPath: '/other.sock' })
  expect(socket({ DOCKER_CONTEXT: 'default' })).toEqual({ socketPath: '/var/run/docker.sock' })
  expect(socket({ DOCKER_CONTEXT: 'other', DOCKER_HOST: 'tcp://10.0.0.1:2375' })).toEqual({
    host: '10.0.0.1',
    port: 2375,
  })
})

test('a context that is not there, ssh and nonsense are refused by name', () => {
  expect(() => chooseEndpoint({ DOCKER_CONTEXT: 'nope' }, home)).toThrow(/'nope'.*DOCKER_CONTEXT/)
  expect(() => chooseEndpoint({ DOCKER_HOST: 'ssh://me@host' }, home)).toThrow(
    /ssh:\/\/ engines are not supported/,
  )
  expect(() => chooseEndpoint({ DOCKER_HOST: 'what' }, home)).toThrow(/expected unix:/)
})

test('an engine that does not answer is an error that lists the places and what to do', async () => {
  const environment = { DOCKER_HOST: `unix://${home}/none.sock` }
  const error = await connectEngine({ environment, home }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ConfigError)
  expect((error as Error).message).toMatch(/Tried: DOCKER_HOST .*none\.sock.*docker info/)
})

test('an engine that is too old is refused by its version', async () => {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ Version: '19.03.15', ApiVersion: '1.40', Os: 'linux', Arch: 'amd64' }))
  })
  const socket = join(home, 'old.sock')
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  try {
    await expect(connectEngine({ environment: { DOCKER_HOST: `unix://${socket}` }, home })).rejects.toThrow(
      /19\.03\.15 \(API 1\.40\).*1\.41/,
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('versions compare by number', () => {
  expect(compareVersions('1.9', '1.41')).toBeLessThan(0)
  expect(compareVersions('1.41', '1.41')).toBe(0)
  expect(compareVersions('2.0', '1.47')).toBeGreaterThan(0)
})
