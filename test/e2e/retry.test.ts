import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { Cli, cli } from '../support/cli.ts'

/** Notes each call of the agent; the last of the samples never ends unless the file `go` is there. */
const TASK = `
import { appendFileSync, existsSync } from 'node:fs'
import { defineTask } from 'belljar'
const dir = import.meta.dirname
export default defineTask({
  name: 'counted',
  dataset: Array.from({ length: 4 }, (_, index) => ({ id: 's' + index, input: 'x' })),
  maxSamples: 1,
  sandbox: false,
  agent: async ({ sample: { id } }) => {
    appendFileSync(dir + '/calls', id + '\\n')
    if (id === 's3' && !existsSync(dir + '/go')) await new Promise((resolve) => setTimeout(resolve, 1e9))
    return 'done'
  },
})
`

describe('belljar retry', () => {
  it('goes on from the journal of a run that was killed, and runs nothing twice', async () => {
    await using run = await Cli.start(['run', 'counted.ts', '--log-dir', '.', '--json'], {
      'counted.ts': TASK,
    })
    const calls = async () =>
      (await readFile(join(run.directory, 'calls'), 'utf8').catch(() => '')).split('\n')
    await vi.waitFor(async () => expect(await calls()).toContain('s3'), { timeout: 60_000 })
    run.kill('SIGKILL')
    await run.end()
    await cp(join(run.directory, 'counted.ts'), join(run.directory, 'go'))
    const [journal = ''] = (await readdir(run.directory)).filter((name) => name.endsWith('.journal.jsonl'))
    const out = join(run.directory, 'out')
    const retried = await cli(['retry', join(run.directory, journal), '--log-dir', out, '--json'])
    expect([retried.exitCode, retried.stderr]).toEqual([0, expect.stringContaining('4 of 4 ended')])
    expect((await calls()).filter((id) => id !== '')).toEqual(['s0', 's1', 's2', 's3', 's3'])
    const again = await cli(['retry', join(out, (await readdir(out))[0] ?? ''), '--log-dir', out])
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('complete already')])
  })
})
