import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readLog } from '../../src/log/read/log-reader.ts'
import type { SampleRecord } from '../../src/log/records/records.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

/** The sample records of `belljar run FILE` by the built command line, in the order in which they ended. */
async function samplesOf(file: string): Promise<SampleRecord[]> {
  const logs = await mkdtemp(join(tmpdir(), 'belljar-examples-'))
  try {
    await run(process.execPath, [join(root, 'dist/cli/main.js'), 'run', file, '--log-dir', logs], {
      cwd: root,
    })
    const samples: SampleRecord[] = []
    for (const log of await readdir(logs)) {
      for await (const record of readLog(join(logs, log))) if (record.type === 'sample') samples.push(record)
    }
    return samples
  } finally {
    await rm(logs, { recursive: true })
  }
}

const verdicts = (samples: readonly SampleRecord[]) =>
  Object.fromEntries(samples.map(({ id, scores }) => [id, scores.command?.value]))

/** Sample ids of the suites of several services. */
const SOLVED: Readonly<Record<string, readonly string[]>> = {
  'attack-range': ['one', 'two'],
  composed: ['report'],
  egress: ['survey', 'mirror'],
  'health-chain': ['order'],
  'image-by-sample': ['busybox', 'debian', 'busybox-again'],
  migration: ['count-users'],
  secrets: ['treasure', 'greet'],
  'shared-volume': ['hello', 'goodbye'],
  'web-and-database': ['price'],
}

describe('the example suites', () => {
  it('are those that are tested here', async () => {
    const entries = await readdir(join(root, 'compose'), { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    const named = ['adaptive', 'invalid', 'jsonl', 'outside', 'seedless', 'single']
    expect(folders.sort()).toEqual([...named, ...Object.keys(SOLVED)].sort())
  })

  it('single: the compose file beside the task is its sandbox', async () => {
    expect(verdicts(await samplesOf('compose/single/task.ts'))).toEqual({ greet: 1, reverse: 1 })
  })

  it.each(Object.entries(SOLVED))('%s: every task is solved by its solution', async (suite, ids) => {
    const solved = Object.fromEntries(ids.map((id) => [id, 1]))
    expect(verdicts(await samplesOf(`compose/${suite}/task.ts`))).toEqual(solved)
  })

  it('jsonl: every task is solved by its solution', async () => {
    const samples = await samplesOf('compose/jsonl/task.ts')
    expect(samples).toHaveLength(12)
    for (const { id, scores, metadata } of samples) {
      expect([id, scores.command?.value, scores.command?.explanation]).toEqual([id, 1, expect.anything()])
      expect(metadata.topic).toEqual(expect.any(String))
    }
  })

  it('jsonl: no task is solved by doing nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'belljar-unsolved-'))
    try {
      await writeFile(join(folder, 'task.ts'), unsolved)
      const scores = Object.values(verdicts(await samplesOf(join(folder, 'task.ts'))))
      expect(scores).toEqual(Array.from({ length: 12 }, () => 0))
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('adaptive: difficulty rises while the agent passes, and the run then ends by itself', async () => {
    expect(verdicts(await samplesOf('compose/adaptive/task.ts'))).toEqual({
      'level-1': 1,
      'level-2': 1,
      'level-3': 1,
      'level-4': 1,
      'level-5': 1,
      'level-6': 0,
    })
  })

  it('seedless: a second sandbox configuration joins in the third batch', async () => {
    const samples = await samplesOf('compose/seedless/task.ts')
    expect(verdicts(samples)).toEqual({
      'batch-1-plain': 1,
      'batch-2-plain': 1,
      'batch-3-plain': 1,
      'batch-3-toolbox': 1,
      'batch-4-plain': 1,
      'batch-4-toolbox': 1,
    })
    const keys = new Map(samples.map(({ id, sandbox }) => [id, sandbox?.key]))
    expect(new Set(keys.values()).size).toBe(2)
    expect(keys.get('batch-4-toolbox')).toBe(keys.get('batch-3-toolbox'))
  })
})

const unsolved = `
import { command, defineTask, docker, fileDataset } from 'belljar'

export default defineTask({
  name: 'unsolved',
  dataset: fileDataset(${JSON.stringify(join(root, 'compose/jsonl/tasks.jsonl'))}, { fields: { metadata: ['topic'] } }),
  sandbox: docker({ build: ${JSON.stringify(join(root, 'sandboxes/debian'))} }),
  agent: 'nop',
  scorers: [command(['sh', '/tests/check.sh'])],
})
`
