import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cliAgent } from '../../../src/agent/cli/cli-agent.ts'
import { type ScriptedOutput, scriptedModel } from '../../../src/agent/scripted-model.ts'
import { readLog } from '../../../src/log/read/log-reader.ts'
import type { SampleRecord } from '../../../src/log/records/records.ts'
import { evaluate } from '../../../src/run/evaluate.ts'
import { docker } from '../../../src/sample/sandbox-spec.ts'
import { command } from '../../../src/score/command.ts'
import { defineTask } from '../../../src/task/task.ts'
import { standInContext } from '../../support/stand-in/image.ts'
import { tempDir } from '../../support/temp-dir.ts'

const PROTOCOLS = ['openai-chat:stream', 'openai-responses', 'anthropic:stream', 'google']
const USAGE = { inputTokens: 100, outputTokens: 10 }

/** Writes what it is asked for by the tool that it is given. */
const model = scriptedModel(({ messages }): ScriptedOutput => {
  const isDone = messages.some(({ role }) => role === 'tool')
  if (isDone) return { text: 'done', usage: USAGE }
  const calls = [{ name: 'shell', arguments: { command: 'ls /sys/class/net; echo 42 > /work/answer.txt' } }]
  return { text: 'I write it.', toolCalls: calls, usage: USAGE }
})

test('an agent in a container without network works through the bridge on all four protocols', async () => {
  await using folder = await tempDir()
  await using logs = await tempDir()
  await standInContext(folder.path)
  const task = defineTask({
    name: 'stand-in',
    dataset: PROTOCOLS.map((protocol) => ({
      id: protocol.replace(':', '-'),
      input: 'Put 42 into /work/answer.txt.',
      metadata: { protocol },
      tests: { '/tests/check.sh': 'test "$(cat /work/answer.txt)" = 42 && test "$(ls /sys/class/net)" = lo' },
    })),
    sandbox: docker({ build: folder.path }),
    agent: cliAgent({
      name: 'stand-in',
      command: ({ prompt, sample }) => {
        const { protocol } = sample.metadata as { protocol: string }
        return ['sh', '-c', 'exec node /agent/cli.js "$@"', 'stand-in', protocol, prompt]
      },
    }),
    scorers: [command(['sh', '/tests/check.sh'])],
    allow: [`context:${folder.path}`],
  })
  const { evals } = await evaluate(task, { model, logDir: logs.path, failOnError: false })
  const samples: SampleRecord[] = []
  for (const log of await readdir(logs.path))
    for await (const record of readLog(join(logs.path, log)))
      if (record.type === 'sample') samples.push(record)
  expect(samples.map(({ error }) => error)).toEqual(PROTOCOLS.map(() => undefined))
  expect(evals.map(({ status }) => status)).toEqual(['success'])
  for (const { id, scores, usage, output, messages } of samples) {
    expect([id, scores.command?.value, output]).toEqual([id, 1, 'done'])
    expect(usage).toMatchObject({ scripted: { inputTokens: 200, outputTokens: 20 } })
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant'])
  }
})
