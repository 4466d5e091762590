import { describe, expect, it } from 'vitest'
import { type Caller, ModelCalls } from '../../../../src/agent/calls/model-calls.ts'
import type { Model, ModelOutput, ModelRequest } from '../../../../src/agent/model.ts'
import { ModelError } from '../../../../src/errors.ts'
import { WorkClock } from '../../../../src/limit/work-clock.ts'

const request: ModelRequest = { messages: [{ role: 'user', content: 'hi' }], tools: [] }
const output: ModelOutput = {
  message: { role: 'assistant', content: 'ok' },
  stopReason: 'stop',
  usage: { inputTokens: 1, outputTokens: 1 },
}
const refused = (kind: 'rate-limit' | 'overloaded' | 'request' = 'overloaded') =>
  new ModelError('no', { kind, model: 'm' })

/** A clock that pauses move, and calls take ten milliseconds of. */
function world(outcomes: readonly (ModelOutput | Error)[]) {
  let nowMs = 0
  const now = () => nowMs
  const retries: Parameters<Caller['onRetry']>[0][] = []
  const model: Model = {
    name: 'm',
    async generate() {
      nowMs += 10
      const outcome = outcomes[calls++] ?? output
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }
  let calls = 0
  const clock = new WorkClock(now)
  const caller: Caller = { epoch: 1, clock, check: () => undefined, onRetry: (event) => retries.push(event) }
  const sleep = async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted()
    nowMs += ms
  }
  return {
    model,
    clock,
    caller,
    retries,
    modelCalls: new ModelCalls({ sleep, now, random: () => 0 }),
    get calls() {
      return calls
    },
  }
}

describe('a model call', () => {
  it('is tried again after errors that may pass, each told of, and none of it is working time', async () => {
    const at = world([refused(), refused('rate-limit'), output])
    const answer = await at.modelCalls.call(at.model, request, at.caller)
    expect(answer).toMatchObject({ ...output, retries: 2, durationMs: 10 })
    expect(at.retries).toEqual([
      {
        startedMs: expect.any(Number),
        durationMs: 10,
        attempt: 1,
        pauseMs: 1000,
        error: { kind: 'overloaded', message: 'no' },
      },
      {
        startedMs: expect.any(Number),
        durationMs: 10,
        attempt: 2,
        pauseMs: 2000,
        error: { kind: 'rate-limit', message: 'no' },
      },
    ])
    expect(at.clock.wallMs).toBe(3030)
    expect(at.clock.workingMs).toBe(10)
  })

  it('fails at once by what cannot pass, and at last by what did not', async () => {
    const once = world([refused('request')])
    await expect(once.modelCalls.call(once.model, request, once.caller)).rejects.toMatchObject({
      kind: 'request',
    })
    expect(once.calls).toBe(1)
    const often = world(Array.from({ length: 20 }, () => refused()))
    const config = { maxRetries: 3 }
    await expect(often.modelCalls.call(often.model, { ...request, config }, often.caller)).rejects.toThrow(
      'no',
    )
    expect(often.calls).toBe(4)
    expect(often.retries).toHaveLength(3)
  })

  it('may be aborted while it pauses', async () => {
    const controller = new AbortController()
    const at = world([refused(), output])
    const caller = { ...at.caller, onRetry: () => controller.abort(new Error('enough')) }
    const call = at.modelCalls.call(at.model, { ...request, signal: controller.signal }, caller)
    await expect(call).rejects.toThrow('enough')
    expect(at.calls).toBe(1)
    expect(at.modelCalls.connectionsOf(at.model).held).toBe(0)
  })

  it('ends at its deadline even when the model heeds no signal, and is tried again', async () => {
    let calls = 0
    const deaf: Model = {
      name: 'deaf',
      generate: () => (calls++ === 0 ? new Promise(() => undefined) : Promise.resolve(output)),
    }
    const at = world([])
    const config = { attemptTimeoutMs: 20 }
    const answer = await at.modelCalls.call(deaf, { ...request, config }, at.caller)
    expect(answer.retries).toBe(1)
    expect(at.retries).toMatchObject([{ error: { kind: 'timeout', message: 'no answer within 20 ms' } }])
  })

  it('is not sent when it may not be made any more after its wait', async () => {
    const modelCalls = new ModelCalls({ maxConnections: 1 })
    let answer: ((given: ModelOutput) => void) | undefined
    let calls = 0
    const model: Model = {
      name: 'm',
      generate: () => {
        calls++
        return new Promise((resolve) => {
          answer = resolve
        })
      },
    }
    let isSpent = false
    const check = () => {
      if (isSpent) throw new Error('spent')
    }
    const caller: Caller = { epoch: 1, clock: new WorkClock(), check, onRetry: () => undefined }
    const first = modelCalls.call(model, request, caller)
    const second = modelCalls.call(model, request, caller)
    while (!answer) await new Promise(setImmediate)
    isSpent = true
    answer(output)
    await expect(second).rejects.toThrow('spent')
    expect(await first).toMatchObject(output)
    expect(calls).toBe(1)
  })

  it('waits for a connection without working, models apart', async () => {
    let now = 0
    const modelCalls = new ModelCalls({ maxConnections: 1, now: () => now })
    const open: (() => void)[] = []
    const slow = (name: string): Model => ({
      name,
      generate: () => new Promise((resolve) => open.push(() => resolve(output))),
    })
    const clocks = [0, 1, 2].map(() => new WorkClock(() => now))
    const models = [slow('a'), slow('a'), slow('b')]
    const calls = models.map((model, index) =>
      modelCalls.call(model, request, {
        epoch: 1,
        clock: clocks[index]!,
        check: () => undefined,
        onRetry: () => undefined,
      }),
    )
    while (open.length < 2) await new Promise(setImmediate)
    now = 50
    open.splice(0).forEach((answer) => void answer())
    while (open.length < 1) await new Promise(setImmediate)
    now = 70
    open[0]?.()
    await Promise.all(calls)
    expect(clocks.map(({ workingMs }) => workingMs)).toEqual([70, 20, 70])
  })
})
