import { afterAll, beforeAll, expect, test } from 'vitest'
import { SandboxUnavailableError } from '../../../src/errors.ts'
import { DockerProvider } from '../../../src/sandbox/docker/docker-provider.ts'
import type { EngineSandbox } from '../../../src/sandbox/docker/engine-sandbox.ts'
import { DockerRun } from '../../support/docker.ts'
import { ENGINE_SOCKET, SocketProxy } from '../../support/docker-socket-proxy.ts'

let run: DockerRun

beforeAll(async () => {
  run = await DockerRun.open({ transport: 'engine' })
})
afterAll(() => run[Symbol.asyncDispose]())

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )

async function start(options = {}) {
  const started = await run.start({ image: 'busybox:latest', ...options })
  const sandbox = started.default as EngineSandbox
  return { started, sandbox, container: sandbox.container.control }
}

test('a killed container fails the command in flight and the next, with what was seen', async () => {
  const { sandbox, container } = await start()
  const inFlight = failure(sandbox.exec(['sleep', '60']))
  await new Promise((resolve) => setTimeout(resolve, 300))
  await container.kill()
  for (const error of [await inFlight, await failure(sandbox.exec(['true']))]) {
    expect(error).toBeInstanceOf(SandboxUnavailableError)
    expect(error).toMatchObject({ reason: 'killed', postMortem: expect.stringContaining('exit code 137') })
  }
  expect(await failure(sandbox.readFile('/etc/passwd'))).toMatchObject({ reason: 'killed' })
})

test('a paused, a removed and a stopped container are told apart', async () => {
  const paused = await start()
  const inFlight = failure(paused.sandbox.exec(['sh', '-c', 'echo $$ > /pid; sleep 908']))
  await new Promise((resolve) => setTimeout(resolve, 500))
  await paused.container.pause()
  expect(await inFlight).toMatchObject({ code: 'sandbox-unavailable', reason: 'paused' })
  expect(await failure(paused.sandbox.exec(['true']))).toMatchObject({ reason: 'paused' })
  await paused.container.unpause()
  expect(await paused.sandbox.exec(['true'])).toMatchObject({ exitCode: 0 })
  const gone = 'while kill -0 "$(cat /pid)"; do sleep 0.1; done'
  expect(await paused.sandbox.exec(['sh', '-c', gone], { timeoutMs: 20_000 })).toMatchObject({ exitCode: 0 })
  const removed = failure(paused.sandbox.exec(['sleep', '60']))
  await new Promise((resolve) => setTimeout(resolve, 500))
  await paused.container.remove({ force: true })
  expect(await removed).toMatchObject({ reason: 'removed' })
  expect(await failure(paused.sandbox.exec(['true']))).toMatchObject({ reason: 'removed' })
})

test('a main process that exits is told with its last log lines', async () => {
  const script = 'echo last words; sleep 1.2; exit 9'
  const { sandbox } = await start({ entrypoint: ['sh', '-c', script] })
  const error = await failure(sandbox.exec(['sleep', '60']))
  expect(error).toMatchObject({
    reason: 'exited',
    postMortem: expect.stringMatching(/exit code 9[\s\S]*last words/),
  })
})

test('a container that runs out of memory as a whole is told as such', async () => {
  const grow = 'sleep 0.7; x=x; while :; do x="$x$x$x"; done'
  const { sandbox } = await start({ memory: '16m', entrypoint: ['sh', '-c', grow] })
  const error = await failure(sandbox.exec(['sleep', '60']))
  expect(error).toMatchObject({ reason: 'oom' })
})

test('a command that runs out of memory is a result while the sandbox lives', async () => {
  const { sandbox } = await start({ memory: '16m' })
  const result = await sandbox.exec([
    'sh',
    '-c',
    'sh -c \'x=x; while :; do x="$x$x$x"; done\'; echo "code $?"',
  ])
  expect(result.stdout).toBe('code 137\n')
  expect(await sandbox.exec(['true'])).toMatchObject({ exitCode: 0 })
})

test('stopped commands are named, dead and aborted, and the sandbox goes on', async () => {
  const { started, sandbox } = await start()
  const running = [
    failure(sandbox.exec(['sleep', '901'])),
    failure(sandbox.exec(['sh', '-c', 'sleep 902 & sleep 902'])),
  ]
  await new Promise((resolve) => setTimeout(resolve, 500))
  const stopped = await started.stopCommands()
  expect(stopped.map((argv) => argv[0])).toEqual(['sleep', 'sh'])
  for (const error of await Promise.all(running)) expect(error).toMatchObject({ code: 'exec-aborted' })
  const left = await sandbox.exec([
    'sh',
    '-c',
    'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 90[12]"',
  ])
  expect(left.stdout).toBe('0\n')
  expect(await started.stopCommands()).toEqual([])
})

test('a command that kills all it can ends the sandbox, and that is said', async () => {
  const { sandbox } = await start()
  expect(await failure(sandbox.exec(['sh', '-c', 'kill -9 -1; sleep 60']))).toMatchObject({
    reason: 'killed',
  })
  expect(await failure(sandbox.exec(['true']))).toMatchObject({ reason: 'killed' })
})

test('a sandbox goes in the middle of floods and of commands that nobody reads', async () => {
  const { started, sandbox } = await start()
  const flood = failure(sandbox.exec(['sh', '-c', 'yes flood & yes flood >&2'], { maxOutputBytes: 1000 }))
  const unread = await sandbox.spawn(['sh', '-c', 'yes unread'])
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await started.remove()).toMatchObject({ removed: 1, left: [] })
  expect(await flood).toMatchObject({ code: 'sandbox-unavailable', reason: 'removed' })
  expect(await failure(unread.wait())).toMatchObject({ reason: 'removed' })
  expect(await started.remove()).toMatchObject({ left: [] })
})

test('when the engine is gone, commands fail as such, in flight and later', async () => {
  await using proxy = await SocketProxy.start(ENGINE_SOCKET)
  const environment = { DOCKER_HOST: `unix://${proxy.path}` }
  const provider = await DockerProvider.connect({ environment, transport: 'engine' })
  const config = await provider.resolve(
    { kind: 'docker', config: { image: 'busybox:latest' } },
    { taskDirectory: '/' },
  )
  const { default: sandbox } = await provider.sampleInit(config, run.identity(), {})
  const inFlight = failure(sandbox.exec(['sleep', '60']))
  await new Promise((resolve) => setTimeout(resolve, 400))
  await proxy.stop()
  expect(await inFlight).toMatchObject({ code: 'sandbox-unavailable', reason: 'daemon' })
  expect(await failure(sandbox.exec(['true']))).toMatchObject({ reason: 'daemon' })
  await provider.close()
})

test('a command whose connection breaks is dead, not run again, and the sandbox goes on', async () => {
  await using proxy = await SocketProxy.start(ENGINE_SOCKET)
  const environment = { DOCKER_HOST: `unix://${proxy.path}` }
  const provider = await DockerProvider.connect({ environment, transport: 'engine' })
  const config = await provider.resolve(
    { kind: 'docker', config: { image: 'busybox:latest' } },
    { taskDirectory: '/' },
  )
  const { default: sandbox } = await provider.sampleInit(config, run.identity(), {})
  const inFlight = failure(sandbox.exec(['sh', '-c', 'echo ran >> /runs; sleep 903']))
  await new Promise((resolve) => setTimeout(resolve, 400))
  proxy.resetAll()
  expect(await inFlight).toMatchObject({ code: 'sandbox-unavailable' })
  const script = 'cat /runs; cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 90[3]"'
  expect((await sandbox.exec(['sh', '-c', script])).stdout).toBe('ran\n0\n')
  await provider.close()
})

test('removal by selector takes the part that it names and no other', async () => {
  const first = run.identity({ sample: 'x=1', epoch: 1 })
  const second = run.identity({ sample: 'x=1', epoch: 2 })
  await run.start({ image: 'busybox:latest' }, { identity: first })
  await run.start({ image: 'busybox:latest' }, { identity: second })
  expect(await run.provider.remove({ run: run.run, sample: 'x=1', epoch: 1 })).toMatchObject({ removed: 1 })
  expect(await run.provider.list()).toContainEqual(second)
  expect(await run.provider.list()).not.toContainEqual(first)
  expect(await run.provider.remove({ run: run.run, sample: 'x=1' })).toEqual({ removed: 1, left: [] })
  expect(await run.provider.remove({ run: run.run, sample: 'x=1' })).toEqual({ removed: 0, left: [] })
})

test('two removals at once both end with nothing left', async () => {
  const identity = run.identity()
  const started = await run.start({ image: 'busybox:latest' }, { identity })
  const reports = await Promise.all([
    started.remove(),
    run.provider.remove(identity),
    run.provider.remove(identity),
  ])
  expect(reports.flatMap(({ left }) => left)).toEqual([])
})
