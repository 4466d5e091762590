import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { SetManifest } from '../../src/run/set/folder/set-manifest.ts'
import { Cli, type CliResult } from '../support/cli.ts'

/** Notes each call of the agents. `slow` waits for the file `go` in its last sample; `flaky` fails in its first once. */
const TASKS = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { defineTask, SampleSource } from 'belljar'
const dir = import.meta.dirname
const samples = ['s0', 's1', 's2'].map((id) => ({ id, input: 'x' }))
const common = { sandbox: false, maxSamples: 1, failOnError: false }
const called = (name, id) => appendFileSync(dir + '/calls', name + ' ' + id + '\\n')

export const slow = defineTask({
  ...common, name: 'slow', dataset: samples,
  agent: async ({ sample: { id } }) => {
    called('slow', id)
    if (id === 's2' && !existsSync(dir + '/go')) await new Promise((resolve) => setTimeout(resolve, 1e9))
    return 'done'
  },
})

export const flaky = defineTask({
  ...common, name: 'flaky', dataset: SampleSource.fromSamples(samples),
  agent: async ({ sample: { id } }) => {
    called('flaky', id)
    if (id === 's0' && !existsSync(dir + '/failed')) { writeFileSync(dir + '/failed', ''); throw new Error('once') }
    return 'done'
  },
})
`

async function callsIn(directory: string): Promise<string[]> {
  const text = await readFile(join(directory, 'calls'), 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

/** The same command line in the same folder as an earlier one. */
async function again(run: Cli, ...args: string[]): Promise<CliResult> {
  await using next = await Cli.start([
    'set',
    join(run.directory, 'tasks.ts'),
    '--log-dir',
    join(run.directory, 'logs'),
    '--retry-wait',
    '0',
    ...args,
  ])
  return await next.end()
}

async function manifestIn(directory: string): Promise<SetManifest> {
  return JSON.parse(await readFile(join(directory, 'logs', 'belljar-set.json'), 'utf8')) as SetManifest
}

describe('belljar set', () => {
  it('goes on in the folder of one that was killed, alone, and does nothing once all is complete', async () => {
    await using run = await Cli.start(
      ['set', 'tasks.ts', '--log-dir', 'logs', '--retry-wait', '0', '--json'],
      { 'tasks.ts': TASKS },
    )
    const { directory } = run
    const states = async () =>
      (await manifestIn(directory)).tasks.map(({ id, state }) => `${id} ${state}`).sort()
    // One waits, and the other is tried again meanwhile.
    await vi.waitFor(
      async () => {
        expect(await callsIn(directory)).toContain('slow s2')
        expect(await states()).toEqual(['flaky complete', 'slow running'])
      },
      { timeout: 60_000 },
    )
    const beside = await again(run)
    expect([beside.exitCode, beside.stderr]).toEqual([
      2,
      expect.stringContaining(`the set is being written by process ${run.pid}; wait for its end, or remove `),
    ])
    run.kill('SIGKILL')
    await run.end()
    await writeFile(join(directory, 'go'), '')

    const next = await again(run)
    expect([next.exitCode, next.stderr]).toEqual([0, expect.stringContaining('set: 2 of 2 tasks complete')])
    const counts = (await callsIn(directory)).sort()
    expect(counts).toEqual([
      ...['flaky s0', 'flaky s0', 'flaky s1', 'flaky s2'],
      ...['slow s0', 'slow s1', 'slow s2', 'slow s2'],
    ])
    const logs = (await readdir(join(directory, 'logs'))).filter((name) => name !== 'belljar-set.json')
    expect(logs.sort()).toEqual((await manifestIn(directory)).tasks.map(({ log }) => log ?? '').sort())

    const idle = await again(run)
    expect([idle.exitCode, idle.stderr]).toEqual([
      0,
      expect.stringContaining('set: all complete already (2 tasks), nothing was run'),
    ])
    expect((await callsIn(directory)).length).toBe(counts.length)
  })

  it('loads tasks anew for each attempt, tells its end in --json, and ends with 1 for errors in samples', async () => {
    await using run = await Cli.start(['tasks'], { 'tasks.ts': TASKS, go: '' })
    await run.end()
    const none = await again(run, '--retry-attempts', '0')
    expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining('its attempt failed: once')])
    const one = await again(run, '--retry-attempts', '1', '--json')
    expect(one.exitCode).toBe(0)
    expect(one.events.at(-1)).toMatchObject({ type: 'set-end', complete: 2, tasks: 2 })
    expect((await callsIn(run.directory)).filter((call) => call === 'flaky s0')).toHaveLength(2)
  })

  it('runs a part of a set, and refuses wrong usage with 2', async () => {
    await using run = await Cli.start(['tasks'], { 'tasks.ts': TASKS, go: '', failed: '' })
    await run.end()
    expect((await again(run, '--part', '1/2')).exitCode).toBe(0)
    expect(await callsIn(run.directory)).toHaveLength(3)
    for (const wrong of [
      ['--part', '3/2'],
      ['--part', 'x'],
      ['--retry-attempts', '-1'],
    ])
      expect([(await again(run, ...wrong)).exitCode, wrong]).toEqual([2, wrong])
    await using bare = await Cli.start(['set', join(run.directory, 'tasks.ts')])
    expect((await bare.end()).stderr).toContain("required option '--log-dir <dir>' not specified")
  })
})

describe('belljar run', () => {
  it('runs a task with several models, each under its own name', async () => {
    await using run = await Cli.start(
      [
        ...['run', 'one.ts', '--log-dir', '.', '--model-base-url', 'http://127.0.0.1:9/v1', '--json'],
        ...['--model', 'openai-compatible/one', '--model', 'openai-compatible/two'],
      ],
      {
        'one.ts': `
          import { defineTask } from 'belljar'
          export default defineTask({ name: 'one', dataset: [{ input: 'x' }], sandbox: false, agent: 'nop' })`,
      },
    )
    const { exitCode, stderr, events } = await run.end()
    expect(exitCode).toBe(0)
    const [one, two] = [
      /^one \(openai-compatible\/one\): success/m,
      /^one \(openai-compatible\/two\): success/m,
    ]
    expect([one.test(stderr), two.test(stderr)]).toEqual([true, true])
    const ended = events.flatMap((event) => (event.type === 'sample-end' ? [event.eval] : []))
    expect(new Set(ended).size).toBe(2)
  })
})
