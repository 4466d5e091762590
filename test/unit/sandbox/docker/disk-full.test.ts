import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DiskFullError, SandboxInitError } from '../../../../src/errors.ts'
import { diskFull } from '../../../../src/sandbox/docker/engine/disk-full.ts'
import type { Engine } from '../../../../src/sandbox/docker/engine/engine.ts'
import { connectEngine } from '../../../../src/sandbox/docker/engine/engine.ts'
import { EngineError } from '../../../../src/sandbox/docker/engine/engine-error.ts'
import { pullImage } from '../../../../src/sandbox/docker/image/pull.ts'

const engineAt = (address: object, dataRoot = tmpdir()) =>
  ({ endpoint: { address }, facts: { dataRoot } }) as unknown as Engine

const refusal = new EngineError('mkdir /x: no space left on device', { status: 500 })

test('a full disk is told apart by what the engine says, however deep, and by nothing that a command printed', async () => {
  const local = engineAt({ socketPath: join(tmpdir(), 'docker.sock') })
  const wrapped = new Error('did not start', { cause: new Error('again', { cause: refusal }) })
  for (const error of [refusal, wrapped]) {
    const full = await diskFull(local, error)
    expect(full).toBeInstanceOf(DiskFullError)
    expect(full?.freeBytes).toBeGreaterThan(0)
    expect(full?.cause).toBe(error)
  }
  expect(await diskFull(local, new Error('tar: no space left on device'))).toBeUndefined()
  expect(await diskFull(local, new EngineError('no such image', { status: 404 }))).toBeUndefined()
})

test('of an engine elsewhere it is not said how much is free', async () => {
  const full = await diskFull(engineAt({ host: '192.0.2.1', port: 2375 }, '/var/lib/docker'), refusal)
  expect(full).toMatchObject({ code: 'disk-full', folder: '/var/lib/docker', freeBytes: undefined })
  expect(full?.message).toMatch(/\/var\/lib\/docker: how much is free there cannot be seen from here/)
})

test('a pull that fills it is not tried again', async () => {
  const calls: string[] = []
  const answers: Record<string, object> = {
    version: { Version: '26.1', ApiVersion: '1.45', Os: 'linux', Arch: 'amd64' },
    info: { DockerRootDir: tmpdir() },
    create: {
      errorDetail: { message: 'failed to register layer: write /usr/lib/x: no space left on device' },
    },
  }
  const server = createServer((request, response) => {
    const name = /(\w+)(\?|$)/.exec(request.url ?? '')?.[1] ?? ''
    calls.push(name)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[name] ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const engine = await connectEngine({ environment: { DOCKER_HOST: `tcp://127.0.0.1:${port}` } })
  const clock = { sleep: () => Promise.reject(new Error('a pause')) }
  const pulling = pullImage(engine, 'busybox:latest', { signal: new AbortController().signal, clock })
  const error = await pulling.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(DiskFullError)
  expect(error).not.toBeInstanceOf(SandboxInitError)
  expect(calls.filter((name) => name === 'create')).toHaveLength(1)
  engine.close()
  server.close()
})
