import { expect, it } from 'vitest'
import { Cli, type CliEvent, cli } from '../support/cli.ts'

const TASK = `import { defineTask, docker, scripted } from 'belljar'
const agent = scripted(['sleep 300'])
export default defineTask({ name: 'seen', dataset: [{ id: 'x/y', input: '' }], agent, sandbox: docker({ image: 'busybox:latest' }) })
`

interface Listed {
  readonly run: string
  readonly belongs: string
  readonly identity?: { readonly sample: string }
  readonly containers: readonly { readonly name: string; readonly state: string }[]
}

const list = async (run: string) =>
  ((await cli(['sandbox', 'list', '--json'])).events as unknown as Listed[]).filter((one) => one.run === run)

it('a live run is listed, entered, spared by cleanup, and not by --force', async () => {
  await using run = await Cli.start(['run', 'task.ts', '--json'], { 'task.ts': TASK })
  const start = await run.event(({ type }) => type === 'run-start')
  const id = (start as Extract<CliEvent, { type: 'run-start' }>).run
  await run.event((event) => event.type === 'sample-phase' && event.phase === 'agent')

  const sandbox = (await list(id)).find(({ identity }) => identity !== undefined)
  expect(sandbox).toMatchObject({
    belongs: 'alive',
    identity: { sample: 'x/y' },
    containers: [{ state: 'running' }],
  })
  const { name = '' } = sandbox?.containers[0] ?? {}
  const human = await cli(['sandbox', 'list'])
  expect(human.stderr).toMatch(new RegExp(`^${id} .* seen +x/y +1 .* alive +${name} \\(running\\)`, 'm'))

  for (const which of [name, `${id}/x/y`]) {
    const { stdout, exitCode } = await cli(['sandbox', 'shell', which])
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`docker exec --interactive --tty ${name} sh -c `)
  }
  expect((await cli(['sandbox', 'shell', 'no-such'])).exitCode).toBe(2)

  const spared = await cli(['sandbox', 'cleanup', id])
  expect(spared.stderr).toContain(`${id}: in use`)
  expect((await cli(['sandbox', 'cleanup', '--force'])).exitCode).toBe(2)
  const dry = await cli(['sandbox', 'cleanup', `${id}/x/y`, '--force', '--dry-run'])
  expect(dry.stderr).toContain(`would remove container ${name}`)
  expect((await list(id)).flatMap(({ containers }) => containers.map((one) => one.name))).toContain(name)

  const forced = await cli(['sandbox', 'cleanup', `${id}/x/y`, '--force'])
  expect(forced.stderr).toContain(`removed container ${name}`)
  const { exitCode, events } = await run.end()
  expect(exitCode).toBe(3)
  expect(events.find(({ type }) => type === 'sample-end')).toMatchObject({
    record: { error: { kind: 'sandbox' } },
  })
})

it('prune says what it would do with each cached image', async () => {
  const { exitCode, stderr } = await cli(['sandbox', 'prune', '--dry-run', '--older-than', '3650d'])
  expect(exitCode).toBe(0)
  expect(stderr).toMatch(/^kept belljar-cache:guest-[0-9a-f]{16} \([\d.]+ [kM]B, last used .* ago\): \S/m)
  expect(stderr).toMatch(/would remove 0 of \d+ images/)
  const { events } = await cli(['sandbox', 'prune', '--dry-run', '--older-than', '3650d', '--json'])
  expect(events.at(-1)).toEqual({ type: 'prune-end', freedBytes: 0 })
  expect(events[0]).toMatchObject({ type: 'image', outcome: 'kept', bytes: expect.any(Number) })
})
