import { expect, it } from 'vitest'
import { connectEngine } from '../../src/sandbox/docker/engine/engine.ts'
import type { StartedSandbox } from '../../src/sandbox/provider.ts'
import { cli } from '../support/cli.ts'
import { ComposeRun } from '../support/compose.ts'
import { objectsOfRun } from '../support/engine-objects.ts'

const SAMPLES = 50
const VOLUMES = `FROM busybox:latest\nRUN echo ${Date.now()} > /made\nVOLUME /data\nVOLUME ["/more", "/and more"]\n`
const TASK = `import { defineTask, docker, scripted } from 'belljar'
const dataset = Array.from({ length: ${SAMPLES} }, (_, index) => ({ input: String(index) }))
const agent = scripted(['echo kept > /data/a && echo kept > "/and more/b" && mount | grep -q " /more "'])
export default defineTask({ name: 'volumes', dataset, agent, sandbox: docker(SANDBOX) })
`
const OWN_COMMAND = `{ services: { default: { build: './env', command: ['sleep', '600'] } } }`

async function volumeNames(): Promise<string[]> {
  const engine = await connectEngine()
  const { Volumes } = await engine.control.listVolumes()
  engine.close()
  // Of others that work on the same engine meanwhile.
  const foreign = (labels: Record<string, string> | null) => labels?.['belljar.run'] !== undefined
  return Volumes.filter(({ Labels }) => !foreign(Labels)).map(({ Name }) => Name)
}

it.each([
  { what: 'with a guest', sandbox: `{ build: './env' }`, args: [] },
  { what: 'without', sandbox: `{ build: './env' }`, args: ['--no-guest'] },
  { what: 'with a main process of its own', sandbox: OWN_COMMAND, args: [] },
])('fifty samples of an image with VOLUMEs, $what, leave not one', async ({ sandbox, args }) => {
  const files = { 'task.ts': TASK.replace('SANDBOX', sandbox), 'env/Dockerfile': VOLUMES }
  const before = await volumeNames()
  const { exitCode, stderr, events } = await cli(
    ['run', 'task.ts', '--json', '--max-sandboxes', '8', ...args],
    files,
  )
  expect(exitCode, stderr).toBe(0)
  expect(events.filter(({ type }) => type === 'sample-end')).toHaveLength(SAMPLES)
  expect((await volumeNames()).filter((name) => !before.includes(name))).toEqual([])
  const end = events.at(-1)
  expect(await objectsOfRun(end?.type === 'run-end' ? end.run : '')).toEqual([])
})

const STUBBORN = `
services:
  main:
    image: "busybox:latest"
    command: ["sh", "-c", "trap '' TERM INT HUP QUIT; while :; do sleep 1; done"]
    stop_grace_period: 10s
    network_mode: none
`
const MANY = 20
const BOUND_MS = 15_000

it('twenty sandboxes whose first process ignores SIGTERM are gone in under fifteen seconds', async () => {
  await using compose = await ComposeRun.open(STUBBORN)
  const sandboxes: StartedSandbox[] = []
  for (let count = 0; count < MANY; count++) sandboxes.push(await compose.start())
  const fromMs = performance.now()
  const reports = await Promise.all(sandboxes.map((sandbox) => sandbox.remove()))
  expect(performance.now() - fromMs).toBeLessThan(BOUND_MS)
  expect(reports.flatMap(({ left }) => left)).toEqual([])
  const left = await objectsOfRun(compose.run.run)
  expect(left.filter((name) => name.startsWith('bj-'))).toEqual([])
})
