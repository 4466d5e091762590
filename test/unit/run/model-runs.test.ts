import { describe, expect, it } from 'vitest'
import { toolLoop } from '../../../src/agent/loop/tool-loop.ts'
import type { Model } from '../../../src/agent/model.ts'
import { scriptedModel } from '../../../src/agent/scripted-model.ts'
import type { RunControls } from '../../../src/run/control/eval-control.ts'
import { exact } from '../../../src/score/exact.ts'
import type { Scorer } from '../../../src/score/scorer.ts'
import type { TaskDefinition } from '../../../src/task/task.ts'
import { BUSY_TOTALS, busyModel, echo } from '../../support/busy-model.ts'
import { fakeModelServer } from '../../support/fake-models/server.ts'
import { fakeRun, fakeTask, sample } from '../../support/fake-run.ts'

const hundred = Array.from({ length: 100 }, (_, index) => ({ ...sample(`s${index}`), target: 'done' }))
/** Of a slow machine with much else to do. */
const TIMEOUT_MS = 120_000
const pause = async () => new Promise<void>((resolve) => setTimeout(resolve, 1))

describe('a run against a provider that refuses and fails', { timeout: TIMEOUT_MS }, () => {
  it('gets every answer once, counts each once, and tells of every attempt that failed', async () => {
    const { reply, faults } = busyModel()
    await using server = await fakeModelServer(reply)
    const task = fakeTask({
      dataset: hundred,
      agent: toolLoop({ tools: [echo] }),
      scorers: [exact()],
      limits: { tokens: 517, turns: 3 },
    })
    const { records, result, log } = await fakeRun(task, {
      model: 'openai-compatible/busy',
      modelBaseUrl: `${server.url}/v1`,
      prices: { 'openai-compatible/busy': { input: 2, output: 10, cacheRead: 0.5 } },
      maxSandboxes: 20,
      sleep: pause,
    })
    expect(result.evals[0]).toMatchObject({ status: 'success', footer: { totals: { success: 100 } } })
    const cost = (230 * 2 + 230 * 0.5 + 57 * 10) / 1e6
    for (const { usage } of records)
      expect(usage).toEqual({ 'openai-compatible/busy': { ...BUSY_TOTALS, cost: expect.closeTo(cost, 12) } })
    const events = log.flatMap((record) => (record.type === 'event' ? [record.event] : []))
    const failed = faults.refused + faults.failed + faults.dropped
    expect(events.filter(({ type }) => type === 'model-output')).toHaveLength(300)
    expect(events.filter(({ type }) => type === 'model-retry')).toHaveLength(failed)
    expect(server.requests).toHaveLength(300 + failed)
    expect(failed).toBeGreaterThan(100)
  })

  it('ends samples by their limit of tokens, which is no error', async () => {
    await using server = await fakeModelServer(busyModel().reply)
    const task = fakeTask({
      dataset: hundred.slice(0, 10),
      agent: toolLoop({ tools: [echo] }),
      limits: { tokens: 299 },
    })
    const { records } = await fakeRun(task, {
      model: 'openai-compatible/busy',
      modelBaseUrl: `${server.url}/v1`,
      sleep: pause,
    })
    for (const record of records)
      expect(record).toMatchObject({
        status: 'limit',
        limit: { type: 'token', limit: 299 },
        usage: { 'openai-compatible/busy': { inputTokens: 250, outputTokens: 50 } },
      })
  })

  it('fails a sample by what cannot pass, with what the provider said', async () => {
    await using server = await fakeModelServer([{ fault: 'status', status: 401, message: 'who are you?' }])
    const { records } = await fakeRun(fakeTask({ dataset: [sample('a')], agent: toolLoop({ tools: [] }) }), {
      model: 'openai-compatible/m',
      modelBaseUrl: `${server.url}/v1`,
    })
    expect(records[0]?.error).toMatchObject({ kind: 'agent', code: 'model-authentication' })
    expect(records[0]?.error?.message).toContain('who are you?')
  })
})

describe('models of a run', { timeout: TIMEOUT_MS }, () => {
  const usage = { inputTokens: 5, outputTokens: 1 }
  const judge: Scorer = {
    name: 'judge',
    async score({ modelRole, state }) {
      const { message } = await modelRole('grader').generate({
        messages: [{ role: 'user', content: `Is '${state.output}' right?` }],
        tools: [],
      })
      return { value: message.content === 'yes' ? 1 : 0 }
    },
  }

  it('of roles judge, are counted under their role and logged with the settings', async () => {
    const task = fakeTask({
      dataset: [sample('a')],
      agent: toolLoop({ tools: [] }),
      scorers: [judge],
      model: scriptedModel(() => 'never asked'),
      modelRoles: { grader: scriptedModel(() => 'no') },
      config: { temperature: 0, seed: 3 },
    })
    const { records, log } = await fakeRun(task, {
      model: scriptedModel(() => ({ text: '42', usage }), { name: 'solver' }),
      modelRoles: { grader: scriptedModel(() => ({ text: 'yes', usage }), { name: 'judge' }) },
      config: { temperature: 1 },
    })
    expect(records).toMatchObject([
      {
        output: '42',
        scores: { judge: { value: 1 } },
        usage: { solver: usage, judge: usage },
        roleUsage: { grader: usage },
      },
    ])
    expect(log.find(({ type }) => type === 'header')).toMatchObject({
      model: 'solver',
      modelRoles: { grader: { model: 'judge' } },
      generateConfig: { temperature: 1, seed: 3 },
    })
  })

  it.each([
    [{ config: { temprature: 1 } as never }, 'temprature'],
    [{ config: { temperature: 'hot' } as never }, 'temperature'],
    [{ model: {} as never }, 'expected a model'],
    [{ model: 'gpt-5' }, 'unknown model'],
    [{ modelBaseUrl: 'http://x' }, 'given by name'],
    [{ maxConnections: 0 }, 'maxConnections'],
  ])('are refused before anything starts: %j', async (options, message) => {
    const run = fakeRun(fakeTask({ dataset: [sample('a')] }), options)
    await expect(run).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(message) })
  })

  it('may be called by fewer at once while the run goes on', async () => {
    let most = 0
    let now = 0
    let control: RunControls | undefined
    const model: Model = {
      name: 'm',
      async generate() {
        control?.connections.get('m')?.set(2)
        most = Math.max(most, ++now)
        await pause()
        now--
        return { message: { role: 'assistant', content: 'x' }, stopReason: 'stop', usage }
      },
    }
    const first = { ...sample('first'), input: 'first' }
    const agent: TaskDefinition['agent'] = async (context) => {
      const ask = () => context.model.generate({ messages: [{ role: 'user', content: 'hi' }], tools: [] })
      await ask()
      await Promise.all(Array.from({ length: 20 }, ask))
    }
    await fakeRun(fakeTask({ dataset: [first], agent }), {
      model,
      onStart: (given) => {
        control = given
      },
    })
    expect(most).toBe(2)
  })
})
