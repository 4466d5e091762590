import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Cli, cli } from '../support/cli.ts'
import { objectsOfRun } from '../support/engine-objects.ts'

const COMPOSE = `services:
  default: { image: busybox:latest, command: [sleep, '3600'], networks: [net] }
  other: { image: busybox:latest, command: [sleep, '3600'], volumes: ['data:/data'], networks: [net] }
volumes: { data: {} }
networks: { net: {} }
`
const TASK = `import { defineTask, docker, scripted } from 'belljar'
const dataset = Array.from({ length: SAMPLES }, (_, index) => ({ input: String(index) }))
export default defineTask({ name: 'killed', dataset, agent: scripted(['COMMAND']), sandbox: docker('compose.yaml') })
`
const files = (samples: number, command: string) => ({
  'task.ts': TASK.replace('SAMPLES', String(samples)).replace('COMMAND', command),
  'compose.yaml': COMPOSE,
})
const ARGS = ['run', 'task.ts', '--json', '--no-reaper', '--max-sandboxes', '2']
const KILLS = 10
/** Long enough for sandboxes to be started, used and removed. */
const LIFE_MS = 6000

/** Kills a run. Returns its id, if it came as far as that. */
async function killedRun(afterMs: number): Promise<string | undefined> {
  await using run = await Cli.start(ARGS, files(20, 'sleep 0.5'))
  await sleep(afterMs)
  run.kill('SIGKILL')
  const start = (await run.end()).events.find(({ type }) => type === 'run-start')
  return start?.type === 'run-start' ? start.run : undefined
}

it('what ten runs leave that are killed at random moments, the next one removes, and it never touches a live one', async () => {
  await using alive = await Cli.start(ARGS, files(2, 'sleep 3600'))
  const aliveId = await alive.runId()
  for (const id of [1, 2])
    await alive.event((event) => event.type === 'sample-phase' && event.phase === 'agent' && event.id === id)
  const its = (await objectsOfRun(aliveId)).sort()
  const dead: string[] = []
  const moments = Array.from({ length: KILLS }, () => Math.round(500 + Math.random() * LIFE_MS))
  for (const afterMs of moments) dead.push(...[(await killedRun(afterMs)) ?? []].flat())
  const left = (await Promise.all(dead.map(objectsOfRun))).flat()
  expect(left.length).toBeGreaterThan(0)

  const next = await cli(['run', 'task.ts', '--json'], files(1, 'true'))
  expect(next.exitCode, next.stderr).toBe(0)
  const stays = (await Promise.all(dead.map(objectsOfRun))).flat()
  expect(stays, `killed after ${moments.join(', ')} ms`).toEqual([])
  expect((await objectsOfRun(aliveId)).sort()).toEqual(its)

  alive.kill('SIGINT')
  const { events } = await alive.end()
  expect(events.at(-1)).toMatchObject({ type: 'run-end', left: [] })
  expect(await objectsOfRun(aliveId)).toEqual([])
})
