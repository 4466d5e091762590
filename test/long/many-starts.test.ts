import { availableParallelism } from 'node:os'
import { expect, it } from 'vitest'
import { Cli } from '../support/cli.ts'
import { DockerProxy } from '../support/docker-proxy.ts'
import { objectsOfRun } from '../support/engine-objects.ts'

const SAMPLES = 300
/** Far less than the last of them wait for their turn. */
const LIMIT_MS = 20_000
const TASK = `import { command, defineTask, docker, scripted } from 'belljar'
const dataset = Array.from({ length: ${SAMPLES} }, (_, index) => ({ input: String(index), setup: 'touch /here' }))
export default defineTask({
  name: 'many', dataset, agent: scripted(['sleep 5']), scorers: [command(['test', '-e', '/here'])], sandbox: docker({ image: 'busybox:latest' }),
  limits: { timeMs: ${LIMIT_MS}, workingMs: ${LIMIT_MS} }, setupTimeoutMs: ${LIMIT_MS}, failOnError: false,
})
`
const STARTS_AT_ONCE = 2 * availableParallelism()
const CALLS_AT_ONCE = Math.max(16, 8 * availableParallelism())
/** The run's anchor and the reaper's looks are counted by nobody. */
const BESIDE = 2

it('three hundred sandboxes that are asked for at once all start, in their turn, and no wait counts against a deadline', async () => {
  await using proxy = await DockerProxy.start([])
  const args = ['run', 'task.ts', '--json', '--max-sandboxes', String(SAMPLES)]
  await using run = await Cli.start(args, { 'task.ts': TASK }, { DOCKER_HOST: proxy.host })
  const { exitCode, stderr, events } = await run.end()
  expect(exitCode, stderr).toBe(0)
  const records = events.flatMap((event) => (event.type === 'sample-end' ? [event.record] : []))
  expect(records).toHaveLength(SAMPLES)
  for (const { status, error, scores } of records)
    expect({ status, error, scores }).toMatchObject({
      status: 'success',
      error: undefined,
      scores: { command: { value: 1 } },
    })
  expect(events.filter((event) => event.type === 'note' && event.level === 'warning')).toEqual([])
  const startMs = records.map(({ phases }) => phases.find(({ name }) => name === 'start')?.durationMs ?? 0)
  expect(Math.max(...startMs)).toBeGreaterThan(LIMIT_MS)
  expect(proxy.mostAtOnce.starts).toBeLessThanOrEqual(STARTS_AT_ONCE + BESIDE)
  expect(proxy.mostAtOnce.changes).toBeLessThanOrEqual(CALLS_AT_ONCE + BESIDE)
  expect(proxy.mostAtOnce.looks).toBeLessThanOrEqual(CALLS_AT_ONCE + BESIDE)
  const end = events.at(-1)
  expect(await objectsOfRun(end?.type === 'run-end' ? end.run : '')).toEqual([])
})
