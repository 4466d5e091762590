import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { containerOf, control, failure, sh, startCompose } from '../docker/guest/support.ts'
import { DockerRun } from '../support/docker.ts'

const script = (...words: string[]) =>
  execFileSync('bash', ['scripts/second-engine.sh', ...words], { encoding: 'utf8' })

const ENGINES = [
  { name: '20.10', version: /^20\.10\./, allowList: 'refused' },
  { name: 'newest', version: /^(2[89]|[3-9]\d)\./, allowList: 'enforced' },
]

/** The oldest engine that is supported, and the newest that Debian has. */
describe.each(ENGINES)('engine $name', ({ name, version, allowList }) => {
  const engine = `other-${name.replace('.', '-')}`
  let run: DockerRun

  beforeAll(async () => {
    const host = script('start', engine, name).trim().split('\n').at(-1) ?? ''
    run = await DockerRun.open({ environment: { ...process.env, DOCKER_HOST: host } })
  }, 300_000)
  afterAll(async () => {
    await run?.[Symbol.asyncDispose]()
    script('stop', engine)
  }, 120_000)

  test('the guest is the main process', async () => {
    expect(run.provider.engine.facts.version).toMatch(version)
    const started = await run.start()
    expect(
      (await sh(started.default, 'cat /proc/1/comm; kill -9 -1; kill -9 1; sleep 60; echo here')).signal,
    ).toBe('SIGKILL')
    expect((await sh(started.default, 'cat /proc/1/comm')).stdout).toBe('guest\n')
    await started.default.writeFile('a/b', 'text')
    expect(await started.default.readText('a/b')).toBe('text')
    expect(await started.remove()).toEqual({ removed: 1, left: [] })
  })

  test('and what becomes of it is told', async () => {
    const { default: sandbox } = await run.start()
    const inFlight = failure(sandbox.exec(['sleep', '60']))
    await sleep(300)
    await control(sandbox).kill()
    expect(await inFlight).toMatchObject({ reason: 'killed', postMortem: expect.stringContaining('137') })
  })

  test('a sandbox ends there with the connection of its process', async () => {
    const { default: sandbox } = await run.start()
    const { engine, id } = containerOf(sandbox)
    engine.openStreams.destroy(id)
    await sleep(2000)
    expect(await failure(control(sandbox).inspect())).toMatchObject({ statusCode: 404 })
  })

  test('an exec brings it into a service with a main process of its own', async () => {
    const { default: sandbox } = await startCompose(
      run,
      'services:\n  box:\n    image: busybox:latest\n    command: ["sleep", "600"]\n    init: true\n    user: "1234"\n    network_mode: none\n',
    )
    expect((await sandbox.exec(['id', '-u'])).stdout).toBe('1234\n')
    expect((await sandbox.exec(['id', '-u'], { user: '0' })).stdout).toBe('0\n')
  })

  if (allowList === 'refused')
    test('a network allow-list is refused there, as names would be a way out', async () => {
      const start = run.start({ image: 'busybox:latest', network: { allow: ['allowed.example'] } })
      await expect(start).rejects.toThrow(/allow-list cannot be enforced here: Engine 20\.10/)
    })
  else
    test('a sandbox with a network allow-list starts, and other names have no address', async () => {
      const started = await run.start({ image: 'busybox:latest', network: { allow: ['allowed.example'] } })
      expect((await sh(started.default, 'nslookup other.example')).exitCode).not.toBe(0)
    })
})
