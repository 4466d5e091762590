import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Cli, type CliEvent, cli } from '../support/cli.ts'
import { DockerProxy } from '../support/docker-proxy.ts'
import { objectsOfRun } from '../support/engine-objects.ts'
import { isRunning, reapersOf, until } from '../support/reaper.ts'

const COMPOSE = `services:
  default: { image: busybox:latest, command: [sleep, '3600'] }
  other: { image: busybox:latest, command: [sleep, '3600'], volumes: ['data:/data'] }
volumes: { data: {} }
`
const TASK = `import { defineTask, docker, scripted } from 'belljar'
const dataset = Array.from({ length: SAMPLES }, (_, index) => ({ input: String(index) }))
export default defineTask({ name: 'reaped', dataset, agent: scripted(['COMMAND']), sandbox: docker('compose.yaml') })
`
const files = (samples: number, command = 'sleep 300') => ({
  'task.ts': TASK.replace('SAMPLES', String(samples)).replace('COMMAND', command),
  'compose.yaml': COMPOSE,
})
const ARGS = ['run', 'task.ts', '--json']
const CREATE = { method: 'POST', path: /^\/containers\/create\?.*[?&]name=bj-reaped/ }

const runId = async (run: Cli) =>
  ((await run.event(({ type }) => type === 'run-start')) as Extract<CliEvent, { type: 'run-start' }>).run
const inPhase = (phase: string) => (event: CliEvent) => event.type === 'sample-phase' && event.phase === phase
const gone = (run: string) => until(async () => (await objectsOfRun(run)).length === 0)

it('nothing stays of a run that is killed, whatever it was doing', async () => {
  for (const phase of ['start', 'agent'] as const) {
    await using run = await Cli.start(ARGS, files(2))
    const id = await runId(run)
    await run.event(inPhase(phase))
    const [reaper = 0] = reapersOf(run.pid)
    run.kill('SIGKILL')
    await gone(id)
    await until(() => !isRunning(reaper))
    expect(await objectsOfRun(id)).toEqual([])
  }
})

it('nothing stays of a create whose reply the killed run never saw', async () => {
  await using proxy = await DockerProxy.start([{ ...CREATE, fault: { kind: 'delay-reply', ms: 5000 } }])
  await using run = await Cli.start(ARGS, files(1), { DOCKER_HOST: proxy.host })
  const id = await runId(run)
  await until(() => proxy.hits.length > 0)
  const [reaper = 0] = reapersOf(run.pid)
  run.kill('SIGKILL')
  await until(() => !isRunning(reaper))
  expect(await objectsOfRun(id)).toEqual([])
})

it('a run that ends by itself ends its reaper, which is small and in a session of its own', async () => {
  await using run = await Cli.start(ARGS, files(1, 'sleep 2'))
  await run.event(inPhase('agent'))
  const [reaper = 0] = reapersOf(run.pid)
  const status = readFileSync(`/proc/${reaper}/status`, 'utf8')
  expect(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])).toBeLessThan(60_000)
  const session = readFileSync(`/proc/${reaper}/stat`, 'utf8').split(') ')[1]?.split(' ')[3]
  expect(Number(session)).toBe(reaper)
  expect((await run.end()).exitCode).toBe(0)
  await until(() => !isRunning(reaper))
})

it('the next run removes what a run has left that died with its reaper, and spares a live one', async () => {
  await using alive = await Cli.start(ARGS, files(1))
  await using dead = await Cli.start(ARGS, files(2))
  const [aliveId, deadId] = [await runId(alive), await runId(dead)]
  await Promise.all([alive.event(inPhase('agent')), dead.event(inPhase('agent'))])
  const before = (await objectsOfRun(aliveId)).sort()
  for (const reaper of reapersOf(dead.pid)) process.kill(reaper, 'SIGKILL')
  dead.kill('SIGKILL')
  await dead.end()
  expect((await objectsOfRun(deadId)).length).toBeGreaterThan(0)
  const next = await cli(ARGS, files(1, 'true'))
  expect(next.exitCode, next.stderr).toBe(0)
  expect(await objectsOfRun(deadId)).toEqual([])
  expect((await objectsOfRun(aliveId)).sort()).toEqual(before)
  expect(next.events).toContainEqual(
    expect.objectContaining({
      type: 'run-note',
      message: expect.stringMatching(/^removed what \d+ dead runs? had left: /),
    }),
  )
})

it('what cannot be removed is listed with the command that removes it, and the exit code is 4', async () => {
  const fault = { kind: 'answer', status: 500, body: '{"message":"busy for ever"}' } as const
  await using proxy = await DockerProxy.start([{ method: 'DELETE', path: /^\/networks\//, fault }])
  await using run = await Cli.start(ARGS, files(1, 'true'), { DOCKER_HOST: proxy.host })
  const id = await runId(run)
  const { exitCode, stderr } = await run.end()
  expect(exitCode, stderr).toBe(4)
  const [network = '', ...others] = await objectsOfRun(id)
  expect(others).toEqual([])
  expect(stderr).toContain(`docker network rm ${network}`)
  const { exitCode: cleaned } = await cli(['sandbox', 'cleanup', id])
  expect(cleaned).toBe(0)
  expect(await objectsOfRun(id)).toEqual([])
})
