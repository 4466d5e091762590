import { expect, it } from 'vitest'
import { approve, reject } from '../../src/agent/loop/approval.ts'
import { toolLoop } from '../../src/agent/loop/tool-loop.ts'
import { loadModel } from '../../src/agent/providers/load-model.ts'
import { bash } from '../../src/agent/tools/bash.ts'
import { EvalFile } from '../../src/log/eval/file/eval-file.ts'
import { evaluate } from '../../src/run/evaluate.ts'
import type { RunEvent } from '../../src/run/run-event.ts'
import { docker } from '../../src/sample/sandbox-spec.ts'
import { command } from '../../src/score/command.ts'
import { modelGraded } from '../../src/score/model-graded.ts'
import { defineTask } from '../../src/task/task.ts'
import { BUSY_TOTALS, busyModel, GRADE_TOTALS } from '../support/busy-model.ts'
import { fakeModelServer } from '../support/fake-models/server.ts'
import { tempDir } from '../support/temp-dir.ts'

const MODEL = 'openai-compatible/busy'
const JUDGE = 'openai-compatible/judge'
const SAMPLES = 100

/** Of all samples, as a log has them. */
const total = ({ inputTokens, outputTokens, cacheReadTokens }: typeof GRADE_TOTALS) => ({
  input_tokens: (inputTokens - cacheReadTokens) * SAMPLES,
  output_tokens: outputTokens * SAMPLES,
  input_tokens_cache_read: cacheReadTokens * SAMPLES,
})

it('a hundred samples in containers, with approval and a grader, get exact totals from a provider that refuses, fails and hangs up', {
  timeout: 900_000,
}, async () => {
  const { reply, faults } = busyModel({ forbidden: 'rm -rf /tmp' })
  await using server = await fakeModelServer(reply)
  await using directory = await tempDir()
  const task = defineTask({
    name: 'busy',
    dataset: Array.from({ length: SAMPLES }, (_, index) => ({
      id: `s${index}`,
      input: 'Count.',
      target: 'done',
    })),
    sandbox: docker({ image: 'debian:bookworm-slim' }),
    agent: toolLoop({ tools: [bash()], approval: [reject({ arguments: /rm -rf/ }), approve('bash')] }),
    scorers: [command(['test', '-d', '/tmp']), modelGraded()],
    limits: { tokens: 517, turns: 3 },
  })
  const records: Extract<RunEvent, { type: 'sample-end' }>['record'][] = []
  const { evals, left } = await evaluate(task, {
    model: MODEL,
    modelBaseUrl: `${server.url}/v1`,
    modelRoles: { grader: await loadModel(JUDGE, { baseUrl: `${server.url}/v1` }) },
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
  expect(evals[0]).toMatchObject({ status: 'success', footer: { totals: { success: SAMPLES } } })
  for (const { usage, roleUsage, scores, messages } of records) {
    expect(usage).toEqual({ [MODEL]: BUSY_TOTALS, [JUDGE]: GRADE_TOTALS })
    expect(roleUsage).toEqual({ grader: GRADE_TOTALS })
    expect(scores).toMatchObject({ command: { value: 1 }, model_graded: { value: 'C' } })
    expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([
      { content: '0' },
      { error: { kind: 'not-approved' } },
      { content: '1' },
    ])
  }
  await using file = await EvalFile.open(evals[0]?.log ?? '')
  const { stats } = await file.headerMember()
  expect(stats?.model_usage).toMatchObject({ [MODEL]: total(BUSY_TOTALS), [JUDGE]: total(GRADE_TOTALS) })
  expect(stats?.role_usage).toEqual({ grader: expect.objectContaining(total(GRADE_TOTALS)) })
  expect(server.requests).toHaveLength(4 * SAMPLES + faults.refused + faults.failed + faults.dropped)
})
