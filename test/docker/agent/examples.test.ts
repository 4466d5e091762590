import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import cliAgentTask from '../../../examples/cli-agent/task.ts'
import scoreTask from '../../../examples/score-with-tests/task.ts'
import writeTask from '../../../examples/write-an-agent/task.ts'
import type { Model } from '../../../src/agent/model.ts'
import { type ScriptedOutput, scriptedModel } from '../../../src/agent/scripted-model.ts'
import type { FooterRecord } from '../../../src/log/records/records.ts'
import { evaluate } from '../../../src/run/evaluate.ts'
import type { Task } from '../../../src/task/task.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** What the scorers of a task of `examples/` say. */
async function scoresOf(name: string, task: Task, model: Model): Promise<FooterRecord['scores']> {
  await using logs = await tempDir()
  const file = fileURLToPath(new URL(`../../../examples/${name}/task.ts`, import.meta.url))
  const loaded = { task, name, file, directory: dirname(file), parameters: {} }
  const { evals } = await evaluate([loaded], { model, logDir: logs.path })
  return evals[0]?.footer.scores ?? []
}

/** The accuracy by the first of them. */
async function accuracyOf(name: string, task: Task, model: Model): Promise<number | null | undefined> {
  const [first] = await scoresOf(name, task, model)
  return first?.metrics.find((metric) => metric.name === 'accuracy')?.value
}

test('cli-agent: a small agent in Python solves its task through the bridge', async () => {
  const model = scriptedModel(({ messages }): ScriptedOutput => {
    if (messages.at(-1)?.role === 'tool') return 'There are eight.'
    const command = 'wc -w < text.txt | tr -d " " > count.txt'
    return { toolCalls: [{ name: 'shell', arguments: { command } }] }
  })
  expect(await accuracyOf('cli-agent', cliAgentTask, model)).toBe(1)
})

test('write-an-agent: a writer and a reviewer, with a tool of their own', async () => {
  const edit = (command: string, text: Record<string, string>) => ({
    toolCalls: [{ name: 'text_editor', arguments: { command, path: '/work/poem.txt', ...text } }],
  })
  const model = scriptedModel([
    edit('create', { file_text: 'bells ring in the jar\n' }),
    'Written.',
    { toolCalls: [{ name: 'word_count', arguments: { path: '/work/poem.txt' } }] },
    'It has five words.',
    edit('str_replace', { old_str: 'in the jar', new_str: 'in jars' }),
    'Changed.',
    'OK',
  ])
  expect(await accuracyOf('write-an-agent', writeTask, model)).toBe(1)
})

test('score-with-tests: two of three tests pass in the sandbox of the verifier', async () => {
  const script = '#!/bin/sh\ntotal=0\nfor n; do [ "$n" -gt 0 ] && total=$((total + n)); done\necho $total\n'
  const model = scriptedModel([
    {
      toolCalls: [
        { name: 'text_editor', arguments: { command: 'create', path: '/work/sum.sh', file_text: script } },
      ],
    },
    'It prints $\\frac{13}{2}$.',
  ])
  const scores = await scoresOf('score-with-tests', scoreTask, model)
  expect(scores.map(({ scorer }) => scorer)).toEqual(['test_suite', 'math'])
  expect(scores.map(({ metrics }) => metrics[0]?.value)).toEqual([expect.closeTo(2 / 3), 1])
})
