import { expect, it } from 'vitest'
import { toolLoop } from '../../src/agent/loop/tool-loop.ts'
import { bash } from '../../src/agent/tools/bash.ts'
import { evaluate } from '../../src/run/evaluate.ts'
import type { RunEvent } from '../../src/run/run-event.ts'
import { docker } from '../../src/sample/sandbox-spec.ts'
import { command } from '../../src/score/command.ts'
import { defineTask } from '../../src/task/task.ts'
import { BUSY_TOTALS, busyModel } from '../support/busy-model.ts'
import { fakeModelServer } from '../support/fake-models/server.ts'
import { tempDir } from '../support/temp-dir.ts'

const MODEL = 'openai-compatible/busy'

it('a hundred samples in containers get exact totals from a provider that refuses, fails and hangs up', {
  timeout: 900_000,
}, async () => {
  const { reply, faults } = busyModel()
  await using server = await fakeModelServer(reply)
  await using directory = await tempDir()
  const task = defineTask({
    name: 'busy',
    dataset: Array.from({ length: 100 }, (_, index) => ({ id: `s${index}`, input: 'Count.' })),
    sandbox: docker({ image: 'debian:bookworm-slim' }),
    agent: toolLoop({ tools: [bash()] }),
    scorers: [command(['test', '-d', '/tmp'])],
    limits: { tokens: 517, turns: 3 },
  })
  const records: Extract<RunEvent, { type: 'sample-end' }>['record'][] = []
  const { evals, left } = await evaluate(task, {
    model: MODEL,
    modelBaseUrl: `${server.url}/v1`,
    logDir: directory.path,
    maxSandboxes: 4,
    sleep: async (_ms, signal) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      signal?.throwIfAborted()
    },
    onEvent: (event) => {
      if (event.type === 'sample-end') records.push(event.record)
    },
  })
  expect(left).toEqual([])
  expect(evals[0]).toMatchObject({ status: 'success', footer: { totals: { success: 100 } } })
  for (const { usage, scores, messages } of records) {
    expect(usage).toEqual({ [MODEL]: BUSY_TOTALS })
    expect(Object.values(scores)).toMatchObject([{ value: 1 }])
    expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([{ content: '0' }, { content: '1' }])
  }
  expect(server.requests).toHaveLength(300 + faults.refused + faults.failed + faults.dropped)
})
