import { expect, it } from 'vitest'
import { Cli } from '../support/cli.ts'
import { objectsOfRun } from '../support/engine-objects.ts'
import { tempDir } from '../support/temp-dir.ts'

/** The first sample removes the folder of its task, which is also where the run was started. */
const TASK = `import { rm } from 'node:fs/promises'
import { command, defineTask, docker } from 'belljar'
const dataset = [
  { id: 'remover', input: '' },
  { id: 'next', input: '' },
  { id: 'needs a file', input: '', files: { '/in': { path: './in.txt' } } },
  { id: 'needs tests', input: '', tests: { '/tests': { path: './tests' } } },
]
const agent = async ({ sample, sandbox }) => {
  if (sample.id === 'remover') await rm(process.cwd(), { recursive: true })
  await sandbox.exec(['test', '-e', '/made'])
}
const scorers = [command(['cat', '/made'])]
export default defineTask({ name: 'deleted', dataset, agent, scorers, sandbox: docker('compose.yaml'), failOnError: false, maxSamples: 1 })
`
const COMPOSE = `services:
  default: { build: ./env, command: [sleep, '3600'], env_file: [vars.env], configs: [{ source: text, target: /text }], volumes: ['data:/data'], networks: [net] }
volumes: { data: {} }
networks: { net: {} }
configs: { text: { content: text } }
`

it('a run whose task folder is deleted in its midst goes on with what it has, and removes everything', async () => {
  await using logs = await tempDir()
  const files = {
    'task.ts': TASK,
    'compose.yaml': COMPOSE,
    'env/Dockerfile': 'FROM busybox:latest\nRUN touch /made\n',
    'vars.env': 'A=b\n',
    'in.txt': 'in',
    'tests/check.sh': 'true',
  }
  await using run = await Cli.start(['run', 'task.ts', '--json', '--log-dir', logs.path], files)
  const id = await run.runId()
  const { exitCode, stderr, events } = await run.end()
  const records = events.flatMap((event) => (event.type === 'sample-end' ? [event.record] : []))
  const of = (sample: string) => records.find((record) => record.id === sample)
  for (const sample of ['remover', 'next']) {
    expect(of(sample), stderr).toMatchObject({ status: 'success', scores: { command: { value: 1 } } })
  }
  expect(of('needs a file')?.error).toMatchObject({
    kind: 'files',
    message: expect.stringMatching(/cannot read .*in\.txt/),
  })
  expect(of('needs tests')?.error).toMatchObject({
    kind: 'tests',
    message: expect.stringMatching(/cannot read .*tests/),
  })
  expect(exitCode, stderr).toBe(1)
  expect(events.at(-1)).toMatchObject({ type: 'run-end', left: [] })
  expect(await objectsOfRun(id)).toEqual([])
})
