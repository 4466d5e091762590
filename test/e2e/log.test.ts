import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { journalPathOf } from '../../src/log/log-paths.ts'
import { Cli, cli } from '../support/cli.ts'

const TASK = `
import { defineTask, exact } from 'belljar'
export default defineTask({
  name: 'small',
  dataset: [{ id: 'a', input: 'x', target: 'x' }, { id: 'evil\\u001b[2J', input: 'y', target: 'x' }],
  sandbox: false,
  agent: async ({ sample }) => sample.input,
  scorers: [exact()],
})
`

const ENDLESS = `
import { defineTask } from 'belljar'
export default defineTask({
  name: 'endless',
  dataset: ['one', 'two'].map((input) => ({ input })),
  maxSamples: 1,
  sandbox: false,
  agent: async ({ sample }) => (sample.input === 'one' ? 'done' : new Promise((resolve) => setTimeout(resolve, 1e9))),
})
`

describe('belljar log', () => {
  it('lists, shows and converts what a run wrote, and names its finished log', async () => {
    await using run = await Cli.start(['run', 'small.ts', '--log-dir', '.', '--json'], { 'small.ts': TASK })
    const { exitCode, events, stderr } = await run.end()
    expect(exitCode).toBe(0)
    const end = events.find((event) => event.type === 'eval-end')
    const [name = ''] = (await readdir(run.directory)).filter((file) => file.endsWith('.eval'))
    expect(end?.type === 'eval-end' && end.log).toBe(name)
    expect(stderr).toContain(`log: ${name}`)
    const log = join(run.directory, name)

    const listed = await cli(['log', 'list', run.directory, '--json'])
    expect(JSON.parse(listed.stdout)).toMatchObject({ path: log, status: 'success', task: 'small' })

    const shown = await cli(['log', 'show', log])
    expect(shown.stderr).toMatch(/small: success \(2 of 2 ended, 2 ok\)[\s\S]*accuracy +0\.500/)
    expect(shown.stderr).not.toContain('\u001b')
    const sample = await cli(['log', 'show', log, '--sample', 'evil\u001b[2J'])
    expect(sample.stderr).toContain('sample evil\\u001b[2J, epoch 1: success')

    const csv = await cli(['log', 'convert', log, '--to', 'csv'])
    expect(csv.stdout.split('\r\n')).toHaveLength(4)
  })

  it('shows and recovers the log of a run that was killed', async () => {
    await using run = await Cli.start(['run', 'endless.ts', '--log-dir', '.', '--json'], {
      'endless.ts': ENDLESS,
    })
    const started = await run.event((event) => event.type === 'eval-start')
    const log = join(run.directory, started.type === 'eval-start' ? started.log : '')
    await vi.waitFor(
      async () =>
        expect(await readFile(journalPathOf(log), 'utf8')).toMatch(/"type":"sample-start".*"input":"two"/),
      { timeout: 60_000 },
    )
    run.kill('SIGKILL')
    await run.end()
    const before = await cli(['log', 'show', log])
    expect(before.stderr).toContain('endless: unfinished')
    const recovered = await cli(['log', 'recover', log, '--json'])
    expect(recovered.exitCode).toBe(0)
    expect(JSON.parse(recovered.stdout)).toMatchObject({
      path: log,
      status: 'error',
      samples: 2,
      cancelled: 1,
    })
    expect((await cli(['log', 'show', log])).stderr).toMatch(
      /endless: error \(2 of 2 ended, 1 ok, 1 cancelled\)/,
    )
    expect((await cli(['log', 'recover', log])).exitCode).toBe(2)
  })

  it.each([
    [['log', 'show', 'none.eval'], /none\.eval: cannot read the log: ENOENT/],
    [['log', 'list', 'none'], /none: cannot list logs: ENOENT/],
    [['log', 'convert', 'none.eval', '--to', 'xml'], /--to/],
    [['log', 'recover', 'none.journal.jsonl'], /there is no such journal/],
  ])('says what is wrong with %j', async (args, message) => {
    const { exitCode, stderr } = await cli(args)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
  })
})
