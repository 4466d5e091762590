import { expect, it } from 'vitest'
import { Cli, type CliEvent } from '../support/cli.ts'
import { DockerProxy } from '../support/docker-proxy.ts'
import { objectsOfRun } from '../support/engine-objects.ts'
import { until } from '../support/reaper.ts'

const TASK = `import { defineTask, docker, scripted } from 'belljar'
const dataset = [{ input: 'x' }, { input: 'y' }]
export default defineTask({ name: 'hung', dataset, agent: scripted(['sleep 300']), sandbox: docker({ image: 'busybox:latest' }) })
`
/** Told from a hang; the run has ten seconds, a busy machine some more. */
const BOUND_MS = 15_000

it.each([
  { what: 'removals hang', phase: 'agent', call: /^DELETE \/containers/ },
  { what: 'a create hangs', phase: 'start', call: /^POST \/containers\/create.*bj-hung/ },
])(
  'SIGINT while $what: ends in time, lists what is left, and the reaper removes it',
  { timeout: 90_000 },
  async ({ phase, call }) => {
    let hangs = phase === 'start'
    await using proxy = await DockerProxy.start(({ method, path }) =>
      hangs && call.test(`${method} ${path}`) ? { kind: 'hang' } : undefined,
    )
    const files = { 'task.ts': TASK }
    await using run = await Cli.start(['run', 'task.ts', '--json'], files, { DOCKER_HOST: proxy.host })
    const start = await run.event(({ type }) => type === 'run-start')
    const { run: id } = start as Extract<CliEvent, { type: 'run-start' }>
    await run.event((event) => event.type === 'sample-phase' && event.phase === phase)
    if (phase === 'start') await until(() => proxy.hits.length > 0)
    hangs = true
    const fromMs = performance.now()
    run.kill('SIGINT')
    const { exitCode, stderr } = await run.end()
    expect(performance.now() - fromMs).toBeLessThan(BOUND_MS)
    expect(exitCode, stderr).toBe(130)
    expect(stderr).toContain(`belljar sandbox cleanup ${id}`)
    hangs = false
    await proxy.shut()
    await proxy.open()
    await until(async () => (await objectsOfRun(id)).length === 0)
  },
)
