import { execFile } from 'node:child_process'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import type { HeaderRecord } from '../../src/log/records/records.ts'
import { Cli, type CliResult, cli } from '../support/cli.ts'

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

const JUDGE = 'openai-compatible/judge'

/** Asks its model; the second sample fails unless the file `go` is there. */
const ASKS = `
import { existsSync } from 'node:fs'
import { defineTask } from 'belljar'
const dir = import.meta.dirname
export default defineTask({
  name: 'asks',
  dataset: [{ id: 'a', input: 'x' }, { id: 'b', input: 'y' }],
  sandbox: false,
  failOnError: false,
  agent: async ({ sample: { id, input }, model }) => {
    if (id === 'b' && !existsSync(dir + '/go')) throw new Error('not yet')
    const { message } = await model.generate({ messages: [{ role: 'user', content: input }], tools: [] })
    return String(message.content)
  },
})
`

const IN_CODE = `
import { defineTask } from 'belljar'
export default defineTask({ name: 'in-code', dataset: [{ input: 'x' }], sandbox: false, agent: 'nop' })
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

  it('makes models, roles and settings again that were named on the command line', async () => {
    const models = ['--model', 'scripted', '-M', 'outputs=[yes, no]', '--model-role', `grader=${JUDGE}`]
    const settings = ['--temperature', '0.5', '--max-tokens', '50', '--stop', 'END', '--max-connections', '3']
    const environment = { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1' }
    await using run = await Cli.start(
      ['run', 'asks.ts', ...models, ...settings, '--max-samples', '1', '--log-dir', '.', '--json'],
      { 'asks.ts': ASKS },
      environment,
    )
    const first = await run.end()
    expect(first.exitCode).toBe(1)
    const log = join(
      run.directory,
      (await readdir(run.directory)).find((name) => name.endsWith('.eval')) ?? '',
    )
    await writeFile(join(run.directory, 'go'), '')
    const out = join(run.directory, 'out')
    const retried = await cli(['retry', log, '--log-dir', out, '--json'], {}, environment)
    expect([retried.exitCode, retried.stderr]).toEqual([0, expect.stringContaining('2 of 2 ended')])
    const facts = ({ model, modelRoles, generateConfig, config }: HeaderRecord) => ({
      ...{ model, modelRoles, generateConfig, given: config.given },
    })
    expect(facts(headerOf(retried))).toEqual(facts(headerOf(first)))
    expect(headerOf(retried)).toMatchObject({
      model: 'scripted',
      modelRoles: { grader: { model: JUDGE } },
      generateConfig: { temperature: 0.5, maxOutputTokens: 50, stopSequences: ['END'], maxConnections: 3 },
    })
  })

  it('leaves keys out of the log, and takes them from where it runs', async () => {
    const key = 'sk-not-for-logs-1234567890'
    const models = ['--model', JUDGE, '--model-base-url', 'http://127.0.0.1:9/v1', '-M', `apiKey=${key}`]
    await using run = await Cli.start(
      ['run', 'counted.ts', ...models, '--secret', 'HUSHED', '--log-dir', '.', '--json'],
      { 'counted.ts': TASK, go: '' },
      { HUSHED: 's3-hushed' },
    )
    const first = await run.end()
    const log = join(
      run.directory,
      (await readdir(run.directory)).find((name) => name.endsWith('.eval')) ?? '',
    )
    const { config } = headerOf(first)
    expect(config.given).toMatchObject({ model: JUDGE, modelArgs: {}, secrets: ['HUSHED'] })
    expect(JSON.stringify(headerOf(first)) + (await readFile(log, 'latin1'))).not.toContain(key)
    const retried = await cli(['retry', log, '--log-dir', join(run.directory, 'out')])
    expect([retried.exitCode, retried.stderr]).toEqual([0, expect.stringContaining('complete already')])
  })

  it('says so where a model was made in code', async () => {
    await using run = await Cli.start(['tasks'], { 'task.ts': IN_CODE })
    await run.end()
    const library = fileURLToPath(new URL('../../dist/index.js', import.meta.url))
    const program = `
      import { evaluate, loadTasks, scriptedModel } from ${JSON.stringify(library)}
      const tasks = await loadTasks('task.ts', { alias: { belljar: ${JSON.stringify(library)} } })
      const { evals } = await evaluate(tasks, { model: scriptedModel(['x']), logDir: '.' })
      console.log(evals[0].log)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: run.directory,
    })
    const retried = await cli(['retry', join(run.directory, stdout.trim())])
    expect([retried.exitCode, retried.stderr]).toEqual([
      2,
      expect.stringContaining("models were given to its run in code: 'scripted'; resume it there"),
    ])
  })
})

function headerOf({ events }: CliResult): HeaderRecord {
  const start = events.find((event) => event.type === 'eval-start')
  if (start?.type !== 'eval-start') throw new Error('no eval was started')
  return start.header
}
