import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { inspectImage } from '../../src/sandbox/docker/image/inspect-image.ts'
import { Cli, type CliEvent, cli } from '../support/cli.ts'
import { DockerRun } from '../support/docker.ts'

const TASK = `import { defineTask } from 'belljar'
const agent = async ({ sample, sandbox }) => {
  if (sample.id !== 'kill') return
  await sandbox.exec(['sh', '-c', 'touch /signal/go; sleep 60'])
}
export default defineTask({ name: 'composed', dataset: JSON.parse(process.env.SAMPLES), agent, failOnError: false })
`
const COMPOSE = `
services:
  main: { image: "busybox:latest", command: sleep infinity, volumes: ["signal:/signal"] }
  db:
    image: busybox:latest
    command: [sh, -c, "echo up; touch /up; until test -e /signal/go; do sleep 0.1; done; printf 'bad \\\\033[31m'; exit 6"]
    volumes: ["signal:/signal"]
    healthcheck: { test: "test -e /up", interval: 100ms }
volumes: { signal: }
`

async function run(samples: string[], args: string[], compose = COMPOSE) {
  const dataset = JSON.stringify(samples.map((id) => ({ id, input: '' })))
  const files = { 'task.ts': TASK, 'compose.yaml': compose }
  await using child = await Cli.start(['run', 'task.ts', '--json', ...args], files, { SAMPLES: dataset })
  const result = await child.end()
  const logs = join(child.directory, 'logs')
  const [folder] = (await readdir(logs)).filter((name) => name.endsWith('.services'))
  const names = folder === undefined ? [] : (await readdir(join(logs, folder))).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(logs, folder ?? '', name), 'utf8')))
  return { ...result, kept: Object.fromEntries(names.map((name, index) => [name, texts[index]])) }
}

const recordOf = (events: readonly CliEvent[], id: string) =>
  events.flatMap((event) => (event.type === 'sample-end' && event.record.id === id ? [event.record] : []))[0]

it('a service that dies ends its sample with cause, exit state and last lines in the record, and its log is kept beside the log', async () => {
  const { kept, events, exitCode, stderr } = await run(['kill', 'fine'], [])
  expect(exitCode, stderr).toBe(1)
  expect(recordOf(events, 'fine')?.status).toBe('success')
  expect(recordOf(events, 'kill')?.error).toMatchObject({
    kind: 'sandbox',
    code: 'sandbox-unavailable',
    message: expect.stringContaining("'db' is unavailable: its container exited with code 6"),
    postMortem: expect.stringMatching(/exit code 6, OOMKilled false[\s\S]*last log lines:\nup\nbad /),
  })
  expect(Object.keys(kept)).toEqual(['kill_epoch-1_attempt-1_db.log'])
  expect(Object.values(kept)[0]).toMatch(/^\d{4}-\S+Z up\n\d{4}-\S+Z bad \\u001b\[31m$/)
})

it('--service-logs all keeps them of every sample, none of none', async () => {
  expect(Object.keys((await run(['fine'], ['--service-logs', 'all'])).kept)).toEqual([
    'fine_epoch-1_attempt-1_db.log',
  ])
  expect((await run(['kill'], ['--service-logs', 'none'])).kept).toEqual({})
})

it('of a start that fails the logs of all services are kept', async () => {
  const compose = `${COMPOSE.split('volumes: { signal: }')[0]}
  broken:
    image: busybox:latest
    command: [sh, -c, "echo no config; exit 4"]
    depends_on: { db: { condition: service_healthy } }
volumes: { signal: }
`
  const { kept, events } = await run(['fine'], [], compose)
  expect(recordOf(events, 'fine')?.error?.message).toMatch(/'broken' did not start: .*code 4/)
  expect(kept).toMatchObject({
    'fine_epoch-1_attempt-1_broken.log': expect.stringContaining('no config'),
    'fine_epoch-1_attempt-1_db.log': expect.stringContaining('up'),
  })
})

it('--no-build lists every image that would have to be built, and starts nothing', async () => {
  const unique = `RUN echo ${Math.random()}`
  const { exitCode, stderr, stdout } = await cli(['run', 'task.ts', 'other.ts', '--no-build', '--json'], {
    'task.ts': NO_BUILD.replace('NAME', 'one').replace('SANDBOX', 'compose.yaml'),
    'other.ts': NO_BUILD.replace('NAME', 'two').replace('SANDBOX', 'Dockerfile'),
    'compose.yaml': 'services: { main: { build: a }, db: { build: b }, web: { image: "busybox:latest" } }',
    'a/Dockerfile': `FROM busybox:latest\n${unique}a`,
    'b/Dockerfile': `FROM busybox:latest\n${unique}b`,
    Dockerfile: `FROM busybox:latest\n${unique}c`,
  })
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/nothing may be built, but these images are missing:\n(.*\n)*/)
  for (const line of [/compose\.yaml: service 'main'/, /compose\.yaml: service 'db'/, /Dockerfile: service/])
    expect(stderr).toMatch(line)
  expect(stderr).not.toContain("'web'")
  expect(stdout).not.toContain('run-start')
})

const NO_BUILD = `import { defineTask, docker, nop } from 'belljar'
export default defineTask({ name: 'NAME', dataset: [{ id: 1, input: '' }], agent: nop(), sandbox: docker('SANDBOX') })
`

it('what a compose file is refused for is listed at once, and runs where the task allows each by name', async () => {
  const task = (allow: string) => `import { defineTask, docker } from 'belljar'
const agent = async ({ sandbox }) => { await sandbox.exec(['true']) }
export default defineTask({ name: 'allowed', dataset: [{ id: 1, input: '' }], agent, sandbox: docker('compose.yaml'), allow: ${allow} })
`
  const compose =
    'services: { main: { image: "busybox:latest", command: sleep infinity, cap_add: [NET_ADMIN], uts: host } }'
  const refused = await cli(['run', 'task.ts', '--json'], { 'task.ts': task('[]'), 'compose.yaml': compose })
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toMatch(/services\.main\.cap_add\[0\]: .*\(allow: 'cap-add:NET_ADMIN'\)/)
  expect(refused.stderr).toContain("task 'allowed': ")
  expect(refused.stderr).toMatch(/services\.main\.uts: .*\(allow: 'host-uts'\)/)
  expect(refused.stdout).not.toContain('eval-start')
  const files = { 'task.ts': task("['cap-add:NET_ADMIN', 'host-uts']"), 'compose.yaml': compose }
  const allowed = await cli(['run', 'task.ts', '--json'], files)
  expect(allowed.exitCode, allowed.stderr).toBe(0)
  expect(allowed.stderr).toMatch(/allowed: cap-add:NET_ADMIN, host-uts/)
})

it('--remove-images leaves nothing of what was built for the run', async () => {
  const args = ['run', 'task.ts', '--json', '--remove-images', '--log-dir', 'logs']
  await using child = await Cli.start(args, {
    'task.ts': NO_BUILD.replace('NAME', 'built').replace('SANDBOX', 'Dockerfile'),
    Dockerfile: `FROM busybox:latest\nRUN echo ${Math.random()} > /unique`,
  })
  const { exitCode, events, stderr } = await child.end()
  expect(exitCode, stderr).toBe(0)
  const records = events.flatMap((event) => (event.type === 'sample-end' ? [event.record] : []))
  const { images = {} } = records[0]?.sandbox ?? {}
  const [id = ''] = Object.values(images)
  expect(id).toMatch(/^sha256:/)
  await using docker = await DockerRun.open()
  expect(await inspectImage(docker.provider.engine, id)).toBeUndefined()
  expect(stderr).toMatch(/image belljar-cache:\S+ was removed after its last use/)
})
