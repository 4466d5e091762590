import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { connectEngine } from '../../src/sandbox/docker/engine/engine.ts'
import { Cli } from '../support/cli.ts'
import { objectsOfRun } from '../support/engine-objects.ts'
import { until } from '../support/reaper.ts'

/** One floods its two streams until a file says that it is enough, the other streams for as long as somebody reads. */
const TASK = `import { defineTask, docker } from 'belljar'
const flood = 'yes flood & one=$!; yes flood >&2 & while [ ! -e /enough ]; do sleep 0.1; done; kill $one $!; wait; echo; echo over'
const agent = async ({ sample, sandbox }) => {
  if (sample.id === 'goes') for await (const _bytes of (await sandbox.spawn(['yes', 'flood'])).stdout);
  const { stdout, stdoutBytes } = await sandbox.exec(['sh', '-c', flood])
  return stdout.endsWith('\\nover\\n') ? 'went on after ' + stdoutBytes + ' bytes' : stdout.slice(-50)
}
export default defineTask({ name: 'flood', dataset: ['goes-on', 'goes'].map((id) => ({ id, input: '' })), agent, sandbox: docker({ image: 'busybox:latest' }), failOnError: false })
`
const STOPPED_MS = 2000
/** Of a container: what the guest may hold back is a few of its windows. */
const MEMORY = 64 * 1024 * 1024

it('a run that is stopped while its sandboxes flood goes on, and meanwhile they neither grow nor resist removal', async () => {
  const engine = await connectEngine()
  await using run = await Cli.start(['run', 'task.ts', '--json'], { 'task.ts': TASK })
  const id = await run.runId()
  for (const sample of ['goes-on', 'goes'])
    await run.event(
      (event) => event.type === 'sample-phase' && event.phase === 'agent' && event.id === sample,
    )
  await sleep(500)
  const objects = await objectsOfRun(id)
  const containerOf = (sample: string) =>
    objects.find((name) => name.startsWith(`bj-flood-${sample}-1`)) ?? ''
  const [goesOn, goes] = [containerOf('goes-on'), containerOf('goes')]

  process.kill(run.pid, 'SIGSTOP')
  try {
    await sleep(STOPPED_MS)
    const memory = async (name: string) =>
      (await engine.control.getContainer(name).stats({ stream: false, 'one-shot': true })).memory_stats.usage
    for (const name of [goesOn, goes]) expect(await memory(name)).toBeLessThan(MEMORY)
    await engine.control.getContainer(goes).remove({ force: true })
    await engine.control
      .getContainer(goes)
      .inspect()
      .then(
        () => expect.fail(`${goes} is still there`),
        ({ statusCode }) => expect(statusCode).toBe(404),
      )
  } finally {
    process.kill(run.pid, 'SIGCONT')
  }
  const enough = await engine.control.getContainer(goesOn).exec({ Cmd: ['touch', '/enough'] })
  await enough.start({ Detach: true })
  const { exitCode, stderr, events } = await run.end()
  expect(exitCode, stderr).toBe(1)
  const records = events.flatMap((event) => (event.type === 'sample-end' ? [event.record] : []))
  expect(records.find(({ id: sample }) => sample === 'goes-on')).toMatchObject({
    status: 'success',
    output: expect.stringContaining('went on'),
  })
  expect(records.find(({ id: sample }) => sample === 'goes')).toMatchObject({
    status: 'error',
    error: { kind: 'sandbox' },
  })
  await until(async () => (await objectsOfRun(id)).length === 0)
  engine.close()
})
