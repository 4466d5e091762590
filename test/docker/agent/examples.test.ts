import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import cliAgentTask from '../../../examples/cli-agent/task.ts'
import writeTask from '../../../examples/write-an-agent/task.ts'
import type { Model } from '../../../src/agent/model.ts'
import { type ScriptedOutput, scriptedModel } from '../../../src/agent/scripted-model.ts'
import { evaluate } from '../../../src/run/evaluate.ts'
import type { Task } from '../../../src/task/task.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** The accuracy by the first scorer of a task of `examples/`. */
async function accuracyOf(name: string, task: Task, model: Model): Promise<number | null | undefined> {
  await using logs = await tempDir()
  const file = fileURLToPath(new URL(`../../../examples/${name}/task.ts`, import.meta.url))
  const loaded = { task, name, file, directory: dirname(file), parameters: {} }
  const { evals } = await evaluate([loaded], { model, logDir: logs.path })
  return evals[0]?.footer.scores[0]?.metrics.find((metric) => metric.name === 'accuracy')?.value
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
