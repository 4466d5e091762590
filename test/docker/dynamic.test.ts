import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { docker, type LogRecord, readLog, type Sample, SampleSource } from 'belljar'
import { expect, it } from 'vitest'
import type { Agent } from '../../src/agent/agent.ts'
import { evaluate } from '../../src/run/evaluate.ts'
import { defineTask } from '../../src/task/task.ts'
import { tempDir } from '../support/temp-dir.ts'

const COMPOSE = `
services:
  default: { image: busybox:latest, command: sleep infinity, depends_on: [store] }
  store: { build: ., command: httpd -f -p 80 -h /www }
`
const DOCKERFILE = `FROM busybox:latest\nRUN mkdir /www && echo ${Math.random()} > /www/number\n`

const BATCHES: readonly Pick<Sample, 'input' | 'sandbox'>[] = [
  { input: 'test -x /bin/busybox && echo busybox' },
  { input: 'test -x /bin/busybox && echo busybox' },
  { input: '. /etc/os-release && echo $ID', sandbox: docker({ image: 'debian:bookworm-slim' }) },
  { input: 'wget -q -O - http://store/number', sandbox: docker('compose.yaml') },
]

/** Says what a command in its sandbox prints: the input. */
const agent: Agent = async ({ sample, sandbox }) => {
  const { stdout, stderr, exitCode } = await sandbox.exec(['sh', '-c', sample.input])
  if (exitCode !== 0) throw new Error(stderr)
  return stdout.trim()
}

it('a source without a seed brings a new image in its third batch and a compose file in its fourth', async () => {
  await using directory = await tempDir()
  const folder = join(directory.path, 'task')
  await mkdir(folder)
  await writeFile(join(folder, 'compose.yaml'), COMPOSE)
  await writeFile(join(folder, 'Dockerfile'), DOCKERFILE)
  const batches = [...BATCHES]
  const told: string[] = []
  const dataset = SampleSource.fromSamples([], {
    nextSamples: async () => {
      const batch = batches.shift()
      return batch ? [batch, batch] : null
    },
    sampleComplete: async ({ output }) => void told.push(output),
  })
  const task = defineTask({ name: 'dynamic', dataset, agent, sandbox: docker({ image: 'busybox:latest' }) })
  const loaded = { task, name: 'dynamic', file: undefined, directory: folder, parameters: {} }
  const { evals, left } = await evaluate([loaded], {
    logDir: join(directory.path, 'logs'),
    removeImages: true,
  })

  expect(evals[0]?.footer).toMatchObject({ status: 'success', totals: { total: 8, success: 8 } })
  expect(told.slice(0, 6)).toEqual(['busybox', 'busybox', 'busybox', 'busybox', 'debian', 'debian'])
  expect(told.slice(6)).toEqual([expect.stringMatching(/^0\.\d+$/), told[6]])
  expect(left).toEqual([])

  const log: LogRecord[] = []
  for await (const record of readLog(evals[0]!.log)) log.push(record)
  const configs = log.flatMap((record) => (record.type === 'config' ? [record.key] : []))
  expect(configs).toHaveLength(3)
  const keys = log.flatMap((record) => (record.type === 'sample' ? [record.sandbox?.key] : []))
  expect(new Set(keys)).toEqual(new Set(configs))
}, 120_000)

it('a retry takes over what has ended, and makes follow-ups again without running them twice', async () => {
  await using directory = await tempDir()
  const runs: string[] = []
  let isBroken = true
  const dataset = () =>
    SampleSource.fromSamples([{ id: 'one', input: '1' }], {
      sampleComplete: async ({ id, status }) => {
        const next = { one: 'two', two: 'three', three: undefined }[String(id)]
        return status === 'success' && next ? [{ id: next, input: next }] : null
      },
    })
  const counted: Agent = async (context) => {
    runs.push(String(context.sample.id))
    if (context.sample.id === 'two' && isBroken) throw new Error('not yet')
    return (await context.sandbox.exec(['echo', 'done'])).stdout.trim()
  }
  const task = defineTask({
    name: 'again',
    dataset,
    agent: counted,
    sandbox: docker({ image: 'busybox:latest' }),
    failOnError: false,
  })
  const logDir = join(directory.path, 'logs')
  const first = await evaluate(task, { logDir })
  expect(first.evals[0]?.footer.totals).toMatchObject({ total: 2, success: 1, error: 1 })
  isBroken = false
  const second = await evaluate(task, { logDir, resume: first.evals[0]!.log })
  expect(second.evals[0]?.footer).toMatchObject({ status: 'success', totals: { total: 3, success: 3 } })
  expect(runs).toEqual(['one', 'two', 'two', 'three'])
  await evaluate(task, { logDir, resume: second.evals[0]!.log })
  expect(runs).toHaveLength(4)
}, 120_000)
