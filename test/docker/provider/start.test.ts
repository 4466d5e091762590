import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SandboxUnavailableError } from '../../../src/errors.ts'
import { createContainer } from '../../../src/sandbox/docker/container/create-container.ts'
import type { EngineSandbox } from '../../../src/sandbox/docker/engine-sandbox.ts'
import { identityLabels } from '../../../src/sandbox/docker/identity/labels.ts'
import { projectName } from '../../../src/sandbox/docker/identity/names.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { DockerRun } from '../../support/docker.ts'

let run: DockerRun
let folder: string
const images: string[] = []

beforeAll(async () => {
  run = await DockerRun.open()
  folder = await mkdtemp(join(tmpdir(), 'belljar-start-'))
})
afterAll(async () => {
  await run[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
  const { control } = run.provider.engine
  for (const image of images)
    await control
      .getImage(image)
      .remove({ force: true })
      .catch(() => undefined)
})

/** Builds an image for a test and returns its tag. */
async function image(name: string, dockerfile: string): Promise<string> {
  await writeFile(join(folder, 'Dockerfile'), dockerfile)
  const config = await run.provider.resolve(
    { kind: 'docker', config: { build: '.' } },
    { taskDirectory: folder },
  )
  const { images: made } = await run.provider.taskInit(config, {})
  const tag = `belljar-test-start-${name}-${run.run}`
  await run.provider.engine.control.getImage(made.default!).tag({ repo: tag, tag: 'latest' })
  images.push(tag, made.default!)
  return tag
}

const inspect = (sandbox: Sandbox) => (sandbox as EngineSandbox).container.control.inspect()
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )

test("a sandbox has belljar's defaults and carries its identity", async () => {
  const identity = run.identity({ sample: '../../a b Ü', epoch: 3, attempt: 2 })
  const { default: sandbox } = await run.start({ image: 'busybox:latest' }, { identity })
  const { HostConfig, Config, NetworkSettings, Name } = await inspect(sandbox)
  expect(HostConfig).toMatchObject({
    NetworkMode: 'none',
    Init: false,
    PidsLimit: 4096,
    AutoRemove: true,
    LogConfig: { Type: 'none', Config: {} },
    Privileged: false,
    CapAdd: null,
    CapDrop: null,
  })
  expect(Object.keys(NetworkSettings.Networks)).toEqual(['none'])
  expect(Config).toMatchObject({ StopSignal: 'SIGKILL', StopTimeout: 0, Healthcheck: { Test: ['NONE'] } })
  expect(Config.Labels).toEqual({
    'belljar.run': run.run,
    'belljar.eval': 'eval-1',
    'belljar.task': 'docker-test',
    'belljar.sample': '../../a b Ü',
    'belljar.epoch': '3',
    'belljar.attempt': '2',
    'belljar.owner': expect.stringMatching(new RegExp(`^.+:${process.pid}:\\d+:\\d+:[0-9a-f-]+$`)),
    'com.docker.compose.project': expect.stringMatching(/^bj-[a-z0-9-]+$/),
    'com.docker.compose.service': 'default',
    'com.docker.compose.container-number': '1',
    'com.docker.compose.oneoff': 'False',
    'com.docker.compose.config-hash': expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(Name.length).toBeLessThanOrEqual(64)
  expect(await run.provider.list()).toContainEqual(identity)
  expect((await sandbox.exec(['cat', '/proc/1/comm'])).stdout).toBe('guest\n')
})

test('limits, user, environment and hardening are as asked', async () => {
  const { default: sandbox } = await run.start({
    image: 'busybox:latest',
    memory: '64m',
    cpus: 0.5,
    pidsLimit: 50,
    user: '1000:1000',
    env: { KEY: 'value = "x"' },
    workdir: '/tmp',
    hardening: 'strict',
  })
  const { HostConfig } = await inspect(sandbox)
  expect(HostConfig).toMatchObject({
    Memory: 64 * 1024 * 1024,
    NanoCpus: 5e8,
    PidsLimit: 50,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
  })
  const { stdout } = await sandbox.exec([
    'sh',
    '-c',
    'id -u; pwd; echo "$KEY"; grep -E "^(Cap(Bnd|Eff)|NoNewPrivs)" /proc/self/status',
  ])
  expect(stdout).toMatch(/^1000\n\/tmp\nvalue = "x"\nCapEff:\t0+\nCapBnd:\t0+\nNoNewPrivs:\t1\n$/)
  await expect(sandbox.exec(['sleep', '50'], { timeoutMs: 300 })).rejects.toMatchObject({
    code: 'exec-timeout',
  })
})

test('a user other than root can write in the default working directory', async () => {
  const tag = await image(
    'user',
    'FROM busybox\nRUN echo agent:x:1007:1007::/:/bin/sh >> /etc/passwd\nUSER agent\n',
  )
  const { default: sandbox } = await run.start({ image: tag })
  await sandbox.writeFile('made.txt', 'x')
  expect(await sandbox.stat('/work/made.txt')).toMatchObject({ uid: 1007, gid: 1007 })
  expect(await sandbox.stat('/work')).toMatchObject({ uid: 1007, gid: 1007 })
  const { default: numeric } = await run.start({ image: 'busybox:latest', user: '1234' })
  await numeric.writeFile('made.txt', 'x')
  expect(await numeric.stat('/work/made.txt')).toMatchObject({ uid: 1234 })
})

test("the image's working directory and entrypoint are kept, its command is replaced", async () => {
  const tag = await image(
    'entrypoint',
    'FROM busybox\nWORKDIR /srv\nRUN printf \'#!/bin/sh\\necho prepared > /prepared\\nexec "$@"\\n\' > /e.sh && chmod +x /e.sh\nENTRYPOINT ["/e.sh"]\nCMD ["false"]\n',
  )
  const { default: sandbox } = await run.start({ image: tag })
  expect(await sandbox.readText('/prepared')).toBe('prepared\n')
  expect((await sandbox.exec(['pwd'])).stdout).toBe('/srv\n')
  const { default: without } = await run.start({ image: tag, entrypoint: [] })
  expect(await without.exists('/prepared')).toBe(false)
})

test('a main process that ends at once is a failed start that says how', async () => {
  const tag = await image('ends', 'FROM busybox\nENTRYPOINT ["sh", "-c", "echo no licence >&2; exit 5"]\n')
  const error = await failure(run.start({ image: tag }))
  expect(error).toBeInstanceOf(SandboxUnavailableError)
  expect(error).toMatchObject({ reason: 'start', message: expect.stringMatching(/code 5[\s\S]*no licence/) })
})

test('an image without a shell has a guest; without one it is refused by name', async () => {
  const archive = pack()
  archive.entry({ name: 'only', mode: 0o755 }, 'x')
  archive.finalize()
  const tag = `belljar-test-start-scratch-${run.run}`
  const { control } = run.provider.engine
  const stream = await control.importImage(archive as never, { repo: tag, tag: 'latest' })
  await new Promise((resolve) => stream.on('end', resolve).resume())
  images.push(tag)
  const { default: sandbox } = await run.start({ image: tag })
  expect(await sandbox.exec(['/only'])).toMatchObject({ launchError: { kind: 'not-executable' } })
  expect(await sandbox.readText('/only')).toBe('x')
  await using other = await DockerRun.open({ transport: 'engine' })
  const error = await failure(other.start({ image: tag }))
  expect(error).toMatchObject({ reason: 'start', message: expect.stringMatching(/has no shell/) })
})

test("volumes of an image carry the run's labels and go with the container", async () => {
  const tag = await image('volume', 'FROM busybox\nVOLUME /data /more\n')
  const started = await run.start({ image: tag })
  const { control } = run.provider.engine
  const filters = { label: [`belljar.run=${run.run}`] }
  const volumes = async () =>
    (await control.listVolumes({ filters })).Volumes.filter(({ Name }) => !Name.startsWith('belljar-guest-'))
  expect(await volumes()).toHaveLength(2)
  await started.default.writeFile('/data/x', 'x')
  await started.remove()
  expect(await volumes()).toHaveLength(0)
})

test('a compose file of one service starts, with its network and volume, and all of it goes', async () => {
  await writeFile(
    join(folder, 'compose.yaml'),
    'services:\n  box:\n    image: busybox:latest\n    command: ["sleep", "600"]\n    init: true\n    volumes: ["data:/data"]\nvolumes:\n  data: {}\n',
  )
  const started = await run.start({ compose: 'compose.yaml' }, { taskDirectory: folder })
  expect(started.default.service).toBe('box')
  await started.default.writeFile('/data/x', 'y')
  expect(await started.default.readText('/data/x')).toBe('y')
  const report = await started.remove()
  expect(report).toMatchObject({ removed: 3, left: [] })
})

test('a compose service has all its networks and the configurations given as text', async () => {
  await writeFile(
    join(folder, 'more.yaml'),
    'services:\n  box:\n    image: busybox:latest\n    command: ["sleep", "600"]\n    init: true\n    networks: [one, two]\n    configs: [note]\nnetworks:\n  one: { internal: true }\n  two: { internal: true }\nconfigs:\n  note: { content: "remember" }\n',
  )
  const started = await run.start({ compose: 'more.yaml' }, { taskDirectory: folder })
  expect(await started.default.readText('/note')).toBe('remember')
  const { NetworkSettings } = await inspect(started.default)
  expect(Object.keys(NetworkSettings.Networks)).toHaveLength(2)
  expect(await started.remove()).toMatchObject({ removed: 3, left: [] })
})

test('a container of our own name is adopted when it carries all our labels, and refused when not', async () => {
  const { engine } = run.provider
  const identity = run.identity()
  const project = projectName(identity)
  const name = `${project}-default-1`
  const labels = identityLabels(identity, project)
  const body = { Image: 'busybox:latest', Cmd: ['sleep', '600'], Labels: labels }
  const lost = await createContainer(engine, { name, labels, body })
  expect(await createContainer(engine, { name, labels, body })).toBe(lost)
  const others = identityLabels(run.identity(), project)
  await expect(createContainer(engine, { name, labels: others, body })).rejects.toMatchObject({ status: 409 })
})

test('an unknown runtime is refused with those there are', async () => {
  await expect(run.start({ image: 'busybox', runtime: 'no-such' })).rejects.toThrow(/no-such.*runc/)
})

test.each([0, 10, 40, 90])('a start that is aborted after %i ms leaves nothing', async (delayMs) => {
  const config = await run.provider.resolve(
    { kind: 'docker', config: { image: 'busybox:latest' } },
    { taskDirectory: '/' },
  )
  await run.provider.taskInit(config, {})
  const controller = new AbortController()
  const identity = run.identity()
  const starting = run.provider.sampleInit(config, identity, { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('enough')), delayMs)
  await expect(starting).rejects.toThrow('enough')
  const filters = { label: [`belljar.run=${run.run}`, `belljar.sample=${identity.sample}`] }
  expect(await run.provider.engine.control.listContainers({ all: true, filters })).toEqual([])
})
