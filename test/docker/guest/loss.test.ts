import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DockerProvider } from '../../../src/sandbox/docker/docker-provider.ts'
import { DockerRun } from '../../support/docker.ts'
import { ENGINE_SOCKET, SocketProxy } from '../../support/docker-socket-proxy.ts'
import { control, failure, sh, within } from './support.ts'

let run: DockerRun

beforeAll(async () => {
  run = await DockerRun.open()
})
afterAll(() => run[Symbol.asyncDispose]())

test.each([
  ['killed', (container: ReturnType<typeof control>) => container.kill()],
  ['killed', (container: ReturnType<typeof control>) => container.stop()],
  ['killed', (container: ReturnType<typeof control>) => container.remove({ force: true })],
] as const)(
  'a container that is %s from outside fails the call in flight and the next',
  async (reason, end) => {
    const started = await run.start()
    const inFlight = failure(started.default.exec(['sleep', '60']))
    const spawned = await started.default.spawn(['sleep', '60'])
    await sleep(200)
    await end(control(started.default))
    for (const error of [
      await within(2000, inFlight),
      await within(2000, failure(spawned.wait())),
      await within(2000, failure(started.default.exec(['true']))),
      await within(2000, failure(started.default.readFile('/etc/passwd'))),
    ])
      expect(error).toMatchObject({
        code: 'sandbox-unavailable',
        reason,
        service: 'default',
        postMortem: expect.stringContaining('exit code 137'),
      })
    expect(await started.remove()).toMatchObject({ left: [] })
  },
)

test('a pause fails what is in flight and the next call, and is over when it is over', async () => {
  const started = await run.start()
  const inFlight = failure(started.default.exec(['sh', '-c', 'echo $$ > /pid; sleep 906']))
  const spawned = await started.default.spawn(['sleep', '907'])
  await sleep(300)
  await control(started.default).pause()
  for (const error of [
    await within(4000, inFlight),
    await within(4000, failure(spawned.wait())),
    await within(4000, failure(started.default.exec(['true']))),
  ])
    expect(error).toMatchObject({ code: 'sandbox-unavailable', reason: 'paused' })
  await control(started.default).unpause()
  const left = 'kill -0 "$(cat /pid)" || echo gone'
  expect((await sh(started.default, left)).stdout).toBe('gone\n')
})

test('a pause that is over soon, as a snapshot makes it, is none', async () => {
  const started = await run.start()
  const inFlight = started.default.exec(['sh', '-c', 'sleep 0.6; echo done'])
  await sleep(100)
  await control(started.default).pause()
  await sleep(100)
  const next = started.default.exec(['true'])
  await sleep(100)
  await control(started.default).unpause()
  expect(await next).toMatchObject({ exitCode: 0 })
  expect((await inFlight).stdout).toBe('done\n')
})

test('a paused sandbox is removed', async () => {
  const started = await run.start()
  await control(started.default).pause()
  await sleep(100)
  expect(await within(8000, started.remove())).toEqual({ removed: 1, left: [] })
})

test('a command that runs out of memory is a result; the sandbox lives', async () => {
  const { default: sandbox } = await run.start({ image: 'busybox:latest', memory: '24m' })
  const grow = 'sh -c \'x=x; while :; do x="$x$x$x"; done\'; echo "code $?"'
  expect((await sh(sandbox, grow)).stdout).toBe('code 137\n')
  expect(await sandbox.exec(['true'])).toMatchObject({ exitCode: 0 })
})

test('where memory runs out for the main process of a service, that is told', async () => {
  const grow = 'sleep 0.7; x=x; while :; do x="$x$x$x"; done'
  const { default: sandbox } = await run.start({
    image: 'busybox:latest',
    memory: '16m',
    entrypoint: ['sh', '-c', grow],
  })
  expect(await within(10_000, failure(sandbox.exec(['sleep', '60'])))).toMatchObject({ reason: 'oom' })
})

test('a sandbox ends with its connection, and that is told', async () => {
  await using proxy = await SocketProxy.start(ENGINE_SOCKET)
  const provider = await DockerProvider.connect({ environment: { DOCKER_HOST: `unix://${proxy.path}` } })
  const config = await provider.resolve(
    { kind: 'docker', config: { image: 'busybox:latest' } },
    { taskDirectory: '/' },
  )
  const identity = run.identity()
  const { default: sandbox } = await provider.sampleInit(config, identity, {})
  const inFlight = failure(sandbox.exec(['sleep', '60']))
  await sleep(200)
  proxy.resetAll()
  expect(await within(3000, inFlight)).toMatchObject({ code: 'sandbox-unavailable' })
  await sleep(1000)
  const filters = { label: [`belljar.run=${run.run}`, `belljar.sample=${identity.sample}`] }
  expect(await run.provider.engine.control.listContainers({ all: true, filters })).toEqual([])
  await proxy.stop()
  await provider.close()
})

test('when the engine is gone, calls fail as such', async () => {
  await using proxy = await SocketProxy.start(ENGINE_SOCKET)
  const provider = await DockerProvider.connect({ environment: { DOCKER_HOST: `unix://${proxy.path}` } })
  const config = await provider.resolve(
    { kind: 'docker', config: { image: 'busybox:latest' } },
    { taskDirectory: '/' },
  )
  const { default: sandbox } = await provider.sampleInit(config, run.identity(), {})
  const inFlight = failure(sandbox.exec(['sleep', '60']))
  await sleep(200)
  await proxy.stop()
  expect(await within(3000, inFlight)).toMatchObject({ code: 'sandbox-unavailable', reason: 'daemon' })
  expect(await within(3000, failure(sandbox.exec(['true'])))).toMatchObject({ reason: 'daemon' })
  await provider.close()
})

test('a sandbox that is kept outlives the provider that made it', async () => {
  const keeping = await DockerProvider.connect({ keep: true })
  const config = await keeping.resolve(
    { kind: 'docker', config: { image: 'busybox:latest' } },
    { taskDirectory: '/' },
  )
  const started = await keeping.sampleInit(config, run.identity(), {})
  const { keep } = started as unknown as { keep(): Promise<void> }
  await keep.call(started)
  const { id } = control(started.default)
  await keeping.close()
  await sleep(500)
  const { control: engine } = run.provider.engine
  expect((await engine.getContainer(id).inspect()).State.Running).toBe(true)
})
