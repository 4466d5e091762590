import { expect, it } from 'vitest'
import { Cli } from '../support/cli.ts'
import { objectsOfRun } from '../support/engine-objects.ts'

const TASK = `import { rm } from 'node:fs/promises'
import { defineTask, docker, SampleSource } from 'belljar'
const sample = (id) => ({ id, input: '', sandbox: docker(id + '.yaml') })
const agent = async ({ sample, sandbox }) => {
  if (sample.id === 'deleted') await rm(new URL('./deleted.yaml', import.meta.url))
  const { stdout } = await sandbox.exec(['cat', '/etc/hostname'])
  return { messages: [], output: stdout.trim() }
}
const added = JSON.parse(process.env.ADDED)
export default defineTask({
  name: 'bad', agent, failOnError: false, maxSamples: 4,
  dataset: SampleSource.fromSamples(JSON.parse(process.env.SEED).map(sample), { nextSamples: async () => (added.length > 0 ? added.splice(0).map(sample) : null) }),
})
`
const main = 'main: { image: "busybox:latest", command: sleep infinity, init: true }'
const health = (test: string) =>
  `healthcheck: { test: [CMD-SHELL, "${test}"], interval: 100ms, timeout: 300ms, retries: 2 }`
const box = (rest: string) => `{ image: "busybox:latest", ${rest} }`

/** What begins and then goes wrong, or not. */
const SEED: Readonly<Record<string, readonly [string, RegExp | undefined]>> = {
  deleted: [`services: { ${main} }`, undefined],
  alike: [
    `services: { ${main}, a-b: ${box('command: sleep 600, hostname: one')}, a_b: ${box('command: sleep 600')}, a.b: ${box('command: sleep 600')} }`,
    undefined,
  ],
  unhealthy: [
    `services: { ${main}, db: ${box(`command: sleep 600, ${health('echo no table; exit 3')}`)} }`,
    /'db' did not start: it is unhealthy\nprobe with exit code 3: no table/,
  ],
  looping: [
    `services: { ${main}, web: ${box('restart: always, command: [sh, -c, "echo no config; exit 5"]')} }`,
    /'web' did not start: .*exit.* code 5[\s\S]*no config/,
  ],
  never: [
    `services: { ${main}, db: ${box(`command: sleep 600, ${health('sleep 60')}`)} }`,
    /'db' did not start: it is unhealthy/,
  ],
  port: [
    `services: { ${main.replace('init: true', 'network_mode: "service:web"')}, web: ${box('command: httpd -f -p 80')}, other: ${box('command: httpd -f -p 80, network_mode: "service:web", depends_on: [web]')} }`,
    /'other' did not start: .*exited with code 1[\s\S]*in use/,
  ],
}

/** What is wrong before anything begins. */
const ADDED: Readonly<Record<string, readonly [string, RegExp]>> = {
  platform: [
    `services: { main: ${box('platform: linux/s390x, command: sleep 600')} }`,
    /image busybox:latest is for linux\/\w+, but the configuration asks for linux\/s390x/,
  ],
  circular: [
    `services: { a: ${box('depends_on: [b]')}, b: ${box('depends_on: [a]')} }`,
    /circular\.yaml[\s\S]*dependency cycle/,
  ],
  env: [`services: { a: ${box('env_file: nowhere.env')} }`, /env\.yaml[\s\S]*nowhere\.env/],
  unknown: [`services: { a: ${box('colour: red')} }`, /unknown\.yaml[\s\S]*colour/],
  empty: ['services: { a: {} }', /empty\.yaml[\s\S]*neither an image nor a build context/],
}

it('a compose file that is bad in any way is one error of its own samples, leaves nothing, and the others go on', async () => {
  const all = { ...SEED, ...ADDED }
  const files = Object.entries(all).map(([name, [text]]) => [`${name}.yaml`, text])
  await using child = await Cli.start(
    ['run', 'task.ts', '--json', '--retry-infra', '0'],
    { 'task.ts': TASK, ...Object.fromEntries(files) },
    { SEED: JSON.stringify(Object.keys(SEED)), ADDED: JSON.stringify(Object.keys(ADDED)) },
  )
  const { events, exitCode, stderr } = await child.end()
  expect(exitCode, stderr).toBe(1)
  const records = events.flatMap((event) => (event.type === 'sample-end' ? [event.record] : []))
  expect(records.map(({ id }) => id).sort()).toEqual(Object.keys(all).sort())
  for (const { id, status, error } of records) {
    const [, message] = all[String(id)] ?? []
    expect([id, status], error?.message).toEqual([id, message ? 'error' : 'success'])
    if (message) expect(error?.message).toMatch(message)
  }
  const end = events.find((event) => event.type === 'run-end')
  expect(end).toMatchObject({ left: [] })
  expect(await objectsOfRun(end?.type === 'run-end' ? end.run : '')).toEqual([])
})
