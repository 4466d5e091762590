import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DiskFullError } from '../../src/errors.ts'
import { pruneImages } from '../../src/sandbox/docker/cache/prune.ts'
import { ComposeRun } from '../support/compose.ts'

/** On an engine whose data root holds so little that a test can fill it. */
const ENGINE = 'full-disk'
const script = (...words: string[]) =>
  execFileSync('bash', ['scripts/second-engine.sh', ...words], {
    encoding: 'utf8',
    env: { ...process.env, BELLJAR_ENGINE_DISK: '48m' },
  })

let environment: NodeJS.ProcessEnv
beforeAll(() => {
  environment = { ...process.env, DOCKER_HOST: script('start', ENGINE).trim().split('\n').at(-1) }
}, 300_000)
afterAll(() => void script('stop', ENGINE), 120_000)

/** Without networks, for which a program of belljar's would be on the engine too. */
const MAIN = 'services: { main: { image: "busybox:latest", command: sleep infinity, network_mode: none } }'
const BIG = `
services: { main: { image: "busybox:latest", command: sleep infinity, configs: [big], network_mode: none } }
configs: { big: { content: "${'much '.repeat(200_000)}" } }
`
const BUILT = (line: string) => ({ Dockerfile: `FROM busybox:latest\n${line}\n` })
const BUILD = 'services: { main: { build: ., command: sleep infinity, network_mode: none } }'

async function failure(compose: ComposeRun): Promise<unknown> {
  return compose.start().then(
    () => undefined,
    (error: unknown) => error,
  )
}

function expectFull(error: unknown): void {
  expect(error).toBeInstanceOf(DiskFullError)
  const { message, freeBytes, folder } = error as DiskFullError
  expect(freeBytes).toBeLessThan(48e6)
  expect(folder).toContain(ENGINE)
  expect(message).toMatch(
    /disk of the Docker engine is full \(.*: [\d.]+ [kM]?B free\): [\s\S]*sandbox prune/,
  )
}

/** Takes all but a few hundred kilobytes until it is disposed of. */
async function filled(): Promise<AsyncDisposable> {
  const compose = await ComposeRun.open(MAIN, {}, { environment })
  const sandbox = await compose.start()
  await sandbox.default.exec(['sh', '-c', 'dd if=/dev/zero of=/fill bs=64k; true'])
  const more = sandbox.default.writeFile('/more', new Uint8Array(1_000_000))
  await expect(more).rejects.toMatchObject({ kind: 'no-space' })
  return compose
}

describe.sequential('an engine whose disk is full', () => {
  it('is what a build fails of', async () => {
    await using compose = await ComposeRun.open(BUILD, BUILT('RUN dd if=/dev/zero of=/fill bs=1M'), {
      environment,
    })
    expectFull(await failure(compose))
  })

  it('is what a start fails of, and nothing is left', async () => {
    await using compose = await ComposeRun.open(BIG, {}, { environment })
    await using _fill = await filled()
    const { error, left } = await compose.outcome()
    expectFull(error)
    expect(left).toEqual([])
  })
})

describe.sequential('prune', () => {
  it('removes what nothing needs, and says how much came free', async () => {
    const noise = randomBytes(4).toString('hex')
    const old = await ComposeRun.open(BUILD, BUILT(`RUN head -c 3000000 /dev/urandom > /${noise}`), {
      environment,
    })
    const sandbox = await old.start()
    const { engine } = old.run.provider
    const namesBy = async (outcome: string, options = {}) => {
      const { images } = await pruneImages(engine, options)
      return images.filter((image) => image.outcome === outcome).map(({ name }) => name)
    }
    expect(await namesBy('removed')).toEqual([])
    expect(await namesBy('kept')).toContainEqual(expect.stringMatching(/^belljar-cache:[0-9a-f]{40}$/))
    await sandbox.remove()
    await old.run.provider.remove({ run: old.run.run })

    expect(await namesBy('kept', { olderThanMs: 3_600_000 })).toHaveLength(1)
    expect(await namesBy('would remove', { dryRun: true })).toHaveLength(1)
    const { images, freedBytes } = await pruneImages(engine)
    expect(images).toMatchObject([{ outcome: 'removed' }])
    expect(freedBytes).toBeGreaterThan(2_900_000)
    expect((await pruneImages(engine)).images).toEqual([])
    await old[Symbol.asyncDispose]()
  })
})
