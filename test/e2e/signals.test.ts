import { describe, expect, it } from 'vitest'
import { Cli, type CliEvent } from '../support/cli.ts'
import { objectsOfRun } from '../support/engine-objects.ts'

const SLOW_BUILD = `import { defineTask, docker, nop } from 'belljar'
export default defineTask({ name: 'slow-build', dataset: [{ input: 'x' }], agent: nop(), sandbox: docker({ build: './env' }) })
`
const BUSY = `import { defineTask, docker, scripted } from 'belljar'
const dataset = Array.from({ length: 6 }, (_, index) => ({ input: String(index) }))
export default defineTask({ name: 'busy', dataset, agent: scripted([COMMAND]), sandbox: docker({ image: 'busybox:latest' }) })
`
const runId = async (run: Cli) =>
  ((await run.event(({ type }) => type === 'run-start')) as Extract<CliEvent, { type: 'run-start' }>).run
const inPhase = (phase: string) => (event: CliEvent) => event.type === 'sample-phase' && event.phase === phase
const busy = (command: string) => ({ 'task.ts': BUSY.replace('COMMAND', JSON.stringify(command)) })

describe('a signal leaves nothing behind', () => {
  it('SIGINT during a build', async () => {
    const files = {
      'task.ts': SLOW_BUILD,
      'env/Dockerfile': `FROM busybox:latest\nRUN echo ${process.pid} && sleep 300\n`,
    }
    await using run = await Cli.start(['run', 'task.ts', '--json'], files)
    const id = await runId(run)
    await run.event((event) => event.type === 'note' && event.message.startsWith('building'))
    run.kill('SIGINT')
    const { exitCode, stderr } = await run.end()
    expect(exitCode, stderr).toBe(130)
    expect(stderr).toContain('cancelled')
    expect(await objectsOfRun(id)).toEqual([])
  })

  it.each([
    { signal: 'SIGINT', code: 130, phase: 'start', command: 'true' },
    { signal: 'SIGINT', code: 130, phase: 'agent', command: 'sleep 300' },
    { signal: 'SIGTERM', code: 143, phase: 'agent', command: 'trap "" TERM INT; sleep 300' },
    { signal: 'SIGHUP', code: 129, phase: 'agent', command: 'sleep 300 & wait' },
  ] as const)(
    '$signal (exit code $code) during $phase of $command',
    async ({ signal, code, phase, command }) => {
      await using run = await Cli.start(['run', 'task.ts', '--json'], busy(command))
      const id = await runId(run)
      await run.event(inPhase(phase))
      run.kill(signal)
      const { exitCode, stderr } = await run.end()
      expect(exitCode, stderr).toBe(code)
      expect(await objectsOfRun(id)).toEqual([])
    },
  )

  it('SIGINT during teardown, keeping what is finished', async () => {
    await using run = await Cli.start(['run', 'task.ts', '--json', '--max-sandboxes', '1'], busy('true'))
    const id = await runId(run)
    await run.event(({ type }) => type === 'sample-end')
    run.kill('SIGINT')
    const { exitCode, events } = await run.end()
    expect(exitCode).toBe(130)
    expect(await objectsOfRun(id)).toEqual([])
    const footer = events.find((event) => event.type === 'eval-end')
    expect(footer).toMatchObject({ status: 'cancelled', footer: { totals: { total: 6 } } })
    expect(
      events.filter((event) => event.type === 'sample-end' && event.record.status === 'success').length,
    ).toBeGreaterThanOrEqual(1)
  })

  it('a second SIGINT ends at once and says what is left and how to remove it', async () => {
    await using run = await Cli.start(['run', 'task.ts', '--json'], busy('sleep 300'))
    const id = await runId(run)
    await run.event(inPhase('agent'))
    run.kill('SIGINT')
    run.kill('SIGINT')
    const { exitCode, stderr } = await run.end()
    expect(exitCode).toBe(130)
    if (stderr.includes('left at once')) expect(stderr).toContain(`label=belljar.run=${id}`)
    const { DockerProvider } = await import('../../src/sandbox/docker/docker-provider.ts')
    const provider = await DockerProvider.connect()
    await provider.remove({ run: id })
    await provider.close()
    expect(await objectsOfRun(id)).toEqual([])
  })
})
