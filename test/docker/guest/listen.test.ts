import { afterAll, beforeAll, expect, test } from 'vitest'
import { DockerRun } from '../../support/docker.ts'
import { failure, sh, TestImages } from './support.ts'

let run: DockerRun
let images: TestImages

beforeAll(async () => {
  run = await DockerRun.open()
  images = new TestImages(run)
})
afterAll(async () => {
  await run[Symbol.asyncDispose]()
  await images[Symbol.asyncDispose]()
})

const USER = 'FROM busybox\nRUN echo agent:x:1007:1007::/home/agent:/bin/sh >> /etc/passwd\nUSER agent\n'
const REQUEST = (port: number) => `echo ping | nc 127.0.0.1 ${port}`

test('a sandbox without network reaches a server of the run on its loopback, and its user cannot end that', async () => {
  const image = await images.build('listen', USER)
  const { default: sandbox } = await run.start({ image })
  await using listener = await sandbox.listen((connection) => connection.pipe(connection))
  expect((await sh(sandbox, REQUEST(listener.port))).stdout).toBe('ping\n')
  await sh(sandbox, 'kill -9 -1')
  expect((await sh(sandbox, REQUEST(listener.port))).stdout).toBe('ping\n')
  expect((await sh(sandbox, 'ip -o link | grep -v lo:')).stdout).toBe('')
})

test('it goes when the commands of its sandbox are stopped, and without a guest it is refused', async () => {
  const started = await run.start()
  const listener = await started.default.listen(() => undefined)
  expect(await started.stopCommands()).toEqual([['/.belljar/guest', '--relay', '0']])
  expect(await failure(listener.closed)).toMatchObject({ code: 'sandbox-unavailable' })
  await using engine = await DockerRun.open({ transport: 'engine' })
  const { default: sandbox } = await engine.start()
  expect(await failure(sandbox.listen(() => undefined))).toMatchObject({ code: 'unsupported' })
})
