import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Docker from 'dockerode'
import { expect, it, vi } from 'vitest'
import { Limiter } from '../../../../src/limit/limiter.ts'
import { byClock, offTheClock, WorkClock } from '../../../../src/limit/work-clock.ts'
import { call } from '../../../../src/sandbox/docker/engine/call.ts'
import { CallTurn, limitCalls } from '../../../../src/sandbox/docker/engine/call-turn.ts'
import { StartTurn } from '../../../../src/sandbox/docker/start/start-turn.ts'
import { until } from '../../../support/reaper.ts'
import { tempDir } from '../../../support/temp-dir.ts'

/** An engine that answers a call when the test says so. */
async function slowEngine(limit: number) {
  const folder = await tempDir()
  const pending: { method: string; answer: () => void }[] = []
  const server = createServer((call, reply: ServerResponse) => {
    const { method = '' } = call
    call.resume()
    pending.push({ method, answer: () => void reply.writeHead(200).end('{}') })
  })
  const socketPath = join(folder.path, 'engine.sock')
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  const client = new Docker({ socketPath })
  limitCalls(client, limit)
  return {
    client,
    pending,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

it('sends the engine so many calls at once, and the others after them', async () => {
  await using engine = await slowEngine(2)
  const calls = [1, 2, 3, 4].map((id) =>
    call(`start of ${id}`, {}, () => engine.client.getContainer(String(id)).start()),
  )
  await until(() => engine.pending.length === 2)
  await sleep(100)
  expect(engine.pending).toHaveLength(2)
  for (const { answer } of engine.pending.splice(0)) answer()
  await until(() => engine.pending.length === 2)
  for (const { answer } of engine.pending) answer()
  await Promise.all(calls)
})

it('the time of a call that waits to be sent does not run', () => {
  vi.useFakeTimers()
  let late = 0
  const { signal } = new AbortController()
  const turn = new CallTurn({ signal, deadlineMs: 1000, onLate: () => void late++ })
  vi.advanceTimersByTime(900)
  turn.waits()
  vi.advanceTimersByTime(60_000)
  const slot = { release: () => undefined, [Symbol.dispose]: () => undefined }
  turn.begins(slot)
  vi.advanceTimersByTime(900)
  expect(late).toBe(0)
  vi.advanceTimersByTime(100)
  expect(late).toBe(1)
  vi.useRealTimers()
})

it('looks at containers although all calls that change something hang', async () => {
  await using engine = await slowEngine(1)
  const hanging = call('start', { deadlineMs: 60_000 }, () => engine.client.getContainer('a').start())
  hanging.catch(() => undefined)
  const look = call('look', {}, () => engine.client.getContainer('a').inspect())
  await until(() => engine.pending.length === 2)
  engine.pending.find(({ method }) => method === 'GET')?.answer()
  await look
})

it('goes on after a call that passed its deadline although it cannot be taken back', async () => {
  await using engine = await slowEngine(1)
  const create = () => engine.client.createNetwork({ Name: 'n' })
  await expect(call('create', { deadlineMs: 50 }, create)).rejects.toThrow('no answer in 0.05 s')
  const next = call('next', {}, () => engine.client.getContainer('a').start())
  await until(() => engine.pending.length === 2)
  engine.pending[1]?.answer()
  await next
})

it('a call that is aborted while it waits is never sent', async () => {
  await using engine = await slowEngine(1)
  const first = call('first', {}, () => engine.client.getContainer('a').start())
  const stop = new AbortController()
  const second = call('second', { signal: stop.signal }, () => engine.client.getContainer('b').start())
  await until(() => engine.pending.length === 1)
  stop.abort(new Error('no longer'))
  await expect(second).rejects.toThrow('no longer')
  engine.pending[0]?.answer()
  await first
  expect(engine.pending).toHaveLength(1)
})

it('a sandbox holds its place among those that start until nothing of it is being started', async () => {
  const limiter = new Limiter(1)
  const { signal } = new AbortController()
  using one = new StartTurn(limiter, signal)
  using other = new StartTurn(limiter, signal)
  await Promise.all([one.enter(), one.enter()])
  let entered = false
  const waiting = other.enter().then(() => {
    entered = true
  })
  one.leave()
  await sleep(1)
  expect(entered).toBe(false)
  one.leave()
  await waiting
  other.leave()
  await one.enter()
  expect(limiter.held).toBe(1)
})

it('a start that is given up while it waits for its place leaves it to others', async () => {
  const limiter = new Limiter(1)
  const stop = new AbortController()
  using one = new StartTurn(limiter, new AbortController().signal)
  using given = new StartTurn(limiter, stop.signal)
  await one.enter()
  const waiting = given.enter()
  stop.abort(new Error('given up'))
  await expect(waiting).rejects.toThrow('given up')
  one.leave()
  await sleep(1)
  expect([limiter.held, limiter.waiting]).toEqual([0, 0])
})

it('a start that comes back after a wait goes before those that came later', async () => {
  const limiter = new Limiter(1)
  const { signal } = new AbortController()
  const turns = ['first', 'second', 'third'].map((name) => ({ name, turn: new StartTurn(limiter, signal) }))
  const order: string[] = []
  const entered = turns.map(async ({ name, turn }) => {
    await turn.enter()
    order.push(name)
  })
  await entered[0]
  turns[0]?.turn.leave()
  await entered[1]
  const back = turns[0]?.turn.enter().then(() => order.push('first again'))
  turns[1]?.turn.leave()
  await back
  turns[0]?.turn.leave()
  await Promise.all(entered)
  expect(order).toEqual(['first', 'second', 'first again', 'third'])
  for (const { turn } of turns) turn[Symbol.dispose]()
})

it('a call that is aborted ends at once, also where the request cannot be taken back', async () => {
  await using engine = await slowEngine(1)
  const stop = new AbortController()
  const version = call('version', { signal: stop.signal }, () => engine.client.version())
  await until(() => engine.pending.length === 1)
  stop.abort(new Error('no longer'))
  await expect(version).rejects.toThrow('no longer')
})

it('five hundred calls at once are sent so many at a time, and none is late although most wait longer than their deadline', async () => {
  const limit = 16
  await using engine = await slowEngine(limit)
  const deadlineMs = 300
  let answered = 0
  const calls = Array.from({ length: 500 }, (_, id) =>
    call(`start of ${id}`, { deadlineMs }, () => engine.client.getContainer(String(id)).start()),
  )
  const all = Promise.all(calls)
  const fromMs = performance.now()
  while (answered < calls.length) {
    await until(() => engine.pending.length > 0)
    expect(engine.pending.length).toBeLessThanOrEqual(limit)
    await sleep(20)
    const some = engine.pending.splice(0)
    answered += some.length
    for (const { answer } of some) answer()
  }
  await all
  expect(performance.now() - fromMs).toBeGreaterThan(deadlineMs)
})

it('what a call waits until it may be sent is no working time of the sample that made it', async () => {
  await using engine = await slowEngine(1)
  let nowMs = 0
  const clock = new WorkClock(() => nowMs)
  const first = call('first', {}, () => engine.client.getContainer('a').start())
  await until(() => engine.pending.length === 1)
  const second = byClock(clock, () => call('second', {}, () => engine.client.getContainer('b').start()))
  nowMs = 1000
  engine.pending.shift()?.answer()
  await first
  await until(() => engine.pending.length === 1)
  nowMs = 1200
  engine.pending.shift()?.answer()
  await second
  expect([clock.waitedMs, clock.workingMs]).toEqual([1000, 200])
  const third = byClock(clock, () =>
    offTheClock(() => call('third', {}, () => engine.client.getContainer('c').start())),
  )
  await until(() => engine.pending.length === 1)
  nowMs = 5000
  engine.pending.shift()?.answer()
  await third
  expect(clock.waitedMs).toBe(1000)
})
