import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { connectEngine } from '../../src/sandbox/docker/engine/engine.ts'
import { removeSelected } from '../../src/sandbox/docker/remove.ts'
import { Cli, type CliEvent } from '../support/cli.ts'
import { reapersOf } from '../support/reaper.ts'

const TEN = `import { defineTask, docker } from 'belljar'
const dataset = Array.from({ length: 10 }, (_, index) => ({ input: String(index) }))
const agent = async ({ sandbox }) => {
  await sandbox.exec(['sh', '-c', 'trap "" TERM HUP; (setsid sleep 300 &) ; yes > /dev/null & echo up > /up'])
  await sandbox.exec(['sleep', '300'])
}
export default defineTask({ name: 'ten', dataset, agent, sandbox: docker({ image: 'busybox:latest' }) })
`

const isUp = (run: Cli, containers: () => Promise<number>) =>
  Promise.race([
    run.end().then(({ stderr }) => Promise.reject(new Error(`belljar ended:\n${stderr}`))),
    (async () => {
      while ((await containers()) < 10) await sleep(100)
    })(),
  ])

/** Two seconds; where the machine is overloaded, what tells gone from left. */
const patienceMs = () => (loadavg()[0]! > 3 * availableParallelism() ? 60_000 : 2000)

async function within(ms: number, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + ms
  while (performance.now() < end && !(await holds())) await sleep(100)
}

describe('a run that is killed with SIGKILL', () => {
  it('takes its ten sandboxes with it within two seconds, without a reaper', async () => {
    const engine = await connectEngine()
    await using run = await Cli.start(['run', 'task.ts', '--json', '--no-reaper', '--max-sandboxes', '10'], {
      'task.ts': TEN,
    })
    const start = await run.event(({ type }) => type === 'run-start')
    const { run: id } = start as Extract<CliEvent, { type: 'run-start' }>
    const filters = { label: [`belljar.run=${id}`, 'belljar.sample'] }
    const listed = (all: boolean) => engine.control.listContainers({ all, filters })
    try {
      await isUp(run, async () => (await listed(false)).length)
      await sleep(1000)
      expect(reapersOf(run.pid)).toEqual([])
      run.kill('SIGKILL')
      await within(patienceMs(), async () => (await listed(true)).length === 0)
      expect((await listed(true)).map(({ Names, State }) => [Names, State])).toEqual([])
      expect((await run.end()).exitCode).toBeNull()
    } finally {
      await removeSelected(engine, { run: id })
      engine.close()
    }
  })
})
