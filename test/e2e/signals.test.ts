import { expect, it } from 'vitest'
import { Cli, type CliEvent } from '../support/cli.ts'
import { DockerProxy } from '../support/docker-proxy.ts'
import { objectsOfRun } from '../support/engine-objects.ts'
import { type Interrupted, interrupted, type Moment, runUntil } from '../support/interrupted.ts'
import { until } from '../support/reaper.ts'

/** Whatever goes on, a run that is told to stop has ten seconds; a busy machine some more, as this only tells the end from a hang. */
const BOUND_MS = 15_000

const TASK = `import { defineTask, docker, nop } from 'belljar'
export default defineTask({ name: 'cut', dataset: [{ input: '' }], agent: nop(), sandbox: docker({ image: 'busybox:latest' }) })
`

const inPhase = (phase: string) => (event: CliEvent) =>
  event.type === 'sample-phase' && event.id === 'second' && event.phase === phase
const late = (ms: number) => ({ kind: 'delay-call', ms }) as const
const services = (fields: string) =>
  `sandbox: docker({ services: { default: { image: 'busybox:latest', command: ['sleep', '600'], ${fields} } } })`
/** One container with a main process of its own, which removal has to end. */
const SERVICE = services('')
const UNHEALTHY = services(`healthcheck: { test: ['CMD', 'false'], interval: '1s', retries: 1000 }`)
const NETWORKS = `sandbox: docker({ services: { default: { image: 'busybox:latest', networks: ['net'] } }, networks: { net: {} } })`
const BUILD_FILES = { 'env/Dockerfile': `FROM busybox:latest\nRUN echo ${Date.now()} && sleep 300\n` }
/** Long enough in copying. */
const BIG = { second: `files: { '/big': { path: './big' } }`, files: { big: 'x'.repeat(32 * 1024 * 1024) } }

const MOMENTS: Record<string, Moment> = {
  'a build': {
    second: `sandbox: docker({ build: './env' })`,
    files: BUILD_FILES,
    call: { of: /^POST \/build/, fault: late(1), isEarly: true },
  },
  'a pull': {
    second: `sandbox: docker({ image: 'registry.invalid/none:1' })`,
    call: { of: /^POST \/images\/create\?.*invalid/, fault: { kind: 'hang' }, isEarly: true },
  },
  'the creation of a network': {
    second: NETWORKS,
    call: { of: /^POST \/networks\/create/, fault: { kind: 'delay-reply', ms: 2000 }, isEarly: true },
  },
  'the creation of a container whose reply comes late': {
    call: {
      of: /^POST \/containers\/create\?.*name=bj-cut-second/,
      fault: { kind: 'delay-reply', ms: 2000 },
      isEarly: true,
    },
  },
  'the creation of a container that takes effect late': {
    call: { of: /^POST \/containers\/create\?.*name=bj-cut-second/, fault: late(2000), isEarly: true },
  },
  'a start': { call: { of: /^POST \/containers\/\w+\/start/, fault: late(2000) } },
  'the wait for health': {
    second: UNHEALTHY,
    call: { of: /^GET \/containers\/\w+\/json/, fault: late(1) },
  },
  'an upload': { ...BIG, event: inPhase('files') },
  'an upload without a guest': { ...BIG, args: ['--no-guest'], event: inPhase('files') },
  'the setup': { second: `setup: 'sleep 300'`, event: inPhase('setup') },
  'a command of the agent': { event: inPhase('agent') },
  'an agent that heeds no signal': { command: 'never', event: inPhase('agent') },
  'the scoring': { command: 'true', event: inPhase('score') },
  'the teardown': {
    second: SERVICE,
    command: 'touch /first',
    call: { of: /^DELETE \/containers\//, fault: late(2000) },
  },
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
const CASES = [
  ...Object.keys(MOMENTS).map((during) => ({ signal: 'SIGINT', during }) as const),
  { signal: 'SIGTERM', during: 'a command of the agent' } as const,
  { signal: 'SIGHUP', during: 'a start' } as const,
]

/** What the run had no time for is listed, and its reaper removes it. */
async function nothingStays({ run, stderr, events }: Interrupted): Promise<void> {
  const end = events.at(-1)
  const left = end?.type === 'run-end' ? end.left : undefined
  if (left?.length === 0) return expect(await objectsOfRun(run)).toEqual([])
  expect(stderr).toContain(`belljar sandbox cleanup ${run}`)
  await until(async () => (await objectsOfRun(run)).length === 0)
}

it.concurrent.each(CASES)(
  '$signal during $during ends the run in time, in order, and leaves nothing',
  async ({ signal, during }) => {
    const outcome = await interrupted(MOMENTS[during]!, signal)
    const { exitCode, stderr, events, tookMs, records } = outcome
    expect(exitCode, stderr).toBe(EXIT_CODES[signal])
    expect(tookMs).toBeLessThan(BOUND_MS)
    await nothingStays(outcome)
    expect(events.find(({ type }) => type === 'eval-end')).toMatchObject({ status: 'cancelled' })
    expect(records.find(({ id }) => id === 'first')).toMatchObject({ status: 'success' })
  },
)

it('a second SIGINT ends the run at once and lists what is left, which its reaper removes', async () => {
  const call = { of: /^DELETE \/containers\//, fault: { kind: 'hang' }, isLasting: true } as const
  await using running = await runUntil({ second: SERVICE, event: inPhase('agent'), call })
  const { cli, proxy, run } = running
  cli.kill('SIGINT')
  await until(() => proxy.hits.length > 0)
  cli.kill('SIGINT')
  const { exitCode, stderr } = await cli.end()
  expect(exitCode, stderr).toBe(130)
  expect(stderr).toContain('container sandbox of cut, sample second (epoch 1)')
  expect(stderr).toContain(`belljar sandbox cleanup ${run}`)
  expect(stderr).toContain('left at once')
  await running.heal()
  await until(async () => (await objectsOfRun(run)).length === 0)
})

it('SIGINT while the engine does not answer ends the run, of which nothing had been started', async () => {
  await using proxy = await DockerProxy.start([
    { method: 'GET', path: /^\/version/, fault: { kind: 'hang' } },
  ])
  const files = { 'task.ts': TASK }
  await using cli = await Cli.start(['run', 'task.ts', '--json'], files, { DOCKER_HOST: proxy.host })
  await until(() => proxy.hits.length > 0)
  cli.kill('SIGINT')
  const { exitCode, stderr, events } = await cli.end()
  expect(exitCode, stderr).toBe(130)
  expect(stderr).toMatch(/stopping; again to leave at once\nnothing had been started\n$/)
  expect(events).toEqual([])
})
