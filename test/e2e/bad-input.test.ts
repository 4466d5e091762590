import { describe, expect, it } from 'vitest'
import { cli } from '../support/cli.ts'
import { objectsOfRun } from '../support/engine-objects.ts'

const task = (
  fields: string,
  imports = '',
) => `import { command, defineTask, docker, fileDataset, nop, oracle, SampleSource, scripted ${imports} } from 'belljar'
const image = docker({ image: 'busybox:latest' })
export default defineTask({ name: 'bad', agent: nop(), ${fields} })
`
const ONE = `dataset: [{ input: 'x' }]`

describe.concurrent('what is wrong before anything starts ends with exit code 2 and one message', () => {
  it.each([
    ['a missing task file', ['run', 'nowhere.ts'], {}, /nowhere\.ts: there is no such task file/],
    [
      'an unknown agent',
      ['run', 'task.ts'],
      { 'task.ts': task(`${ONE}, agent: 'genius'`) },
      /unknown agent 'genius'/,
    ],
    ['an empty data set', ['run', 'task.ts'], { 'task.ts': task('dataset: []') }, /the data set is empty/],
    [
      'a bad line of a data file',
      ['run', 'task.ts'],
      { 'task.ts': task(`dataset: fileDataset('d.jsonl')`), 'd.jsonl': '{"input":"a"}\n{"input": }\n' },
      /d\.jsonl:2/,
    ],
    [
      'a bad field of a data file',
      ['run', 'task.ts'],
      { 'task.ts': task(`dataset: fileDataset('d.jsonl')`), 'd.jsonl': '{"input":"a"}\n{"input":5}\n' },
      /d\.jsonl:2.*input/,
    ],
    [
      'a missing data file',
      ['run', 'task.ts'],
      { 'task.ts': task(`dataset: fileDataset('none.jsonl')`) },
      /none\.jsonl/,
    ],
    [
      'an unknown sandbox kind',
      ['run', 'task.ts'],
      { 'task.ts': task(`${ONE}, sandbox: 'podman'`) },
      /unknown sandbox kind 'podman'; known kinds: docker/,
    ],
    [
      'a missing Dockerfile',
      ['run', 'task.ts'],
      { 'task.ts': task(`${ONE}, sandbox: docker({ build: './env' })`), 'env/README': '' },
      /Dockerfile/,
    ],
    [
      'a missing compose file',
      ['run', 'task.ts'],
      { 'task.ts': task(`${ONE}, sandbox: docker('stack.yaml')`) },
      /stack\.yaml/,
    ],
    [
      'a compose file that asks for the Docker socket',
      ['run', 'task.ts'],
      {
        'task.ts': task(ONE),
        'compose.yaml':
          'services:\n  default:\n    image: busybox\n    volumes: ["/var/run/docker.sock:/s"]\n',
      },
      /docker.sock/,
    ],
    [
      'an unknown parameter',
      ['run', 'task.ts', '-T', 'shots=3'],
      { 'task.ts': task(ONE) },
      /takes no parameters/,
    ],
    ['an unknown option', ['run', 'task.ts', '--tasks', '3'], { 'task.ts': task(ONE) }, /unknown option/],
    ['a file without a task', ['run', 'task.ts'], { 'task.ts': 'export default 3' }, /exports no task/],
    [
      'a file with a syntax error',
      ['run', 'task.ts'],
      { 'task.ts': 'export default {' },
      /cannot load the task file/,
    ],
  ] as const)('%s', async (_what, args, files, message) => {
    const { exitCode, stderr, stdout } = await cli([...args, ...(args[0] === 'run' ? ['--json'] : [])], files)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\n\s+at .*\.js:/)
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
  })

  it('an engine that does not answer', async () => {
    const files = { 'task.ts': task(`${ONE}, sandbox: image`) }
    const environment = { DOCKER_HOST: 'unix:///nonexistent/docker.sock' }
    const { exitCode, stderr } = await cli(['run', 'task.ts'], files, environment)
    expect(stderr).toContain('/nonexistent/docker.sock')
    expect(exitCode).toBe(2)
  })
})

describe.concurrent('what goes wrong later fails the eval, keeps what is finished and leaves nothing', () => {
  const source = (callback: string) =>
    `dataset: SampleSource.fromSamples([{ input: 'first' }], { ${callback}: async () => { throw new Error('the generator broke') } }), sandbox: image`
  it.each([
    [
      'a base image that does not exist',
      `${ONE}, sandbox: docker({ image: 'belljar.invalid/no/such:image' })`,
      /no\/such:image/,
    ],
    [
      'a setup that fails',
      `dataset: [{ input: 'x', setup: 'echo oh no >&2; exit 4' }], sandbox: image`,
      /setup failed \(exit code 4\)[\s\S]*oh no/,
    ],
    [
      'a setup that never ends',
      `dataset: [{ input: 'x', setup: 'echo working; sleep 1000' }], setupTimeoutMs: 1500, sandbox: image`,
      /setup was stopped after 1500 ms[\s\S]*working/,
    ],
    [
      'a file whose folder cannot be made',
      `dataset: [{ input: 'x', files: { '/etc/passwd/x': 'y' } }], sandbox: image`,
      /\/etc\/passwd/,
    ],
    [
      'a throwing sampleComplete',
      source('sampleComplete'),
      /sampleComplete of sample '1': the generator broke/,
    ],
    ['a throwing nextSamples', source('nextSamples'), /nextSamples: the generator broke/],
    [
      'a sample that is added twice',
      `dataset: SampleSource.fromSamples([{ input: 'first', id: 'a' }], { sampleComplete: async () => [{ input: 'again', id: 'a' }] }), sandbox: image`,
      /duplicate sample id 'a': first from the seed.*again from sampleComplete/,
    ],
  ])('%s', async (_what, fields, message) => {
    const { exitCode, stderr, events } = await cli(['run', 'task.ts', '--json'], { 'task.ts': task(fields) })
    expect(stderr).toMatch(message)
    expect(exitCode).toBe(3)
    const start = events.find((event) => event.type === 'run-start')
    expect(await objectsOfRun(start?.type === 'run-start' ? start.run : '')).toEqual([])
    const end = events.find((event) => event.type === 'eval-end')
    expect(end).toMatchObject({ status: 'error' })
    if (fields.includes('SampleSource')) expect(end).toMatchObject({ footer: { totals: { success: 1 } } })
  })

  it('and with errors in samples that are tolerated, the exit code is 1', async () => {
    const fields = `dataset: [{ input: 'x', setup: 'exit 1' }, { input: 'y' }], sandbox: image, failOnError: false`
    const { exitCode, events } = await cli(['run', 'task.ts', '--json'], { 'task.ts': task(fields) })
    expect(exitCode).toBe(1)
    expect(events.find((event) => event.type === 'eval-end')).toMatchObject({
      status: 'success',
      footer: { totals: { error: 1, success: 1 } },
    })
  })
})
