import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readOverview } from '../../src/log/read/log-reader.ts'
import { Cli, cli } from '../support/cli.ts'

const TASK = `
import { command, defineTask, exact, includes, modelGraded } from 'belljar'
export default defineTask({
  name: 'said',
  dataset: [{ id: 'a', input: 'x', target: 'yes' }, { id: 'b', input: 'x', target: 'no' }],
  sandbox: 'local',
  maxSamples: 1,
  agent: async () => 'yes, indeed',
  scorers: [includes(), command(['true'])],
})
`

describe('belljar score', () => {
  it('scores with what the task file has now, and says what it cannot use', async () => {
    await using run = await Cli.start(['run', 'said.ts', '--log-dir', '.'], { 'said.ts': TASK })
    await run.end()
    const { directory } = run
    const [name = ''] = (await readdir(directory)).filter((file) => file.endsWith('.eval'))
    const log = join(directory, name)
    const before = await readFile(log)
    await writeFile(join(directory, 'said.ts'), TASK.replace('includes(),', 'exact(), includes(),'))

    const scored = await cli(['score', log, '--action', 'overwrite', '--json'])
    expect([scored.exitCode, scored.stderr]).toEqual([0, expect.stringContaining('which is gone: command')])
    const outcome = JSON.parse(scored.stdout)
    expect(outcome).toMatchObject({
      judged: 2,
      failures: [],
      scores: [{ scorer: 'exact' }, { scorer: 'includes' }],
    })
    expect((await readOverview(outcome.log)).samples.map(({ scores }) => scores)).toMatchObject([
      { exact: { value: 'I' }, includes: { value: 'C' } },
      { exact: { value: 'I' }, includes: { value: 'I' } },
    ])
    expect(await readFile(log)).toEqual(before)

    const grader = ['--model', 'scripted', '-M', 'outputs=["GRADE: C"]']
    const out = join(directory, 'graded.eval')
    const graded = await cli(['score', log, '--scorer', 'model_graded', ...grader, '--out', out])
    expect([graded.exitCode, graded.stderr]).toEqual([0, expect.stringContaining(`log: ${out}`)])
    expect((await readOverview(out)).footer?.scores.map(({ scorer }) => scorer)).toEqual([
      'includes',
      'command',
      'model_graded',
    ])

    const refused = await cli(['score', log, '--scorer', 'command'])
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('act in the sandbox')])
  })
})
