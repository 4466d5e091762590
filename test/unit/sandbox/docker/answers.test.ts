import { expect, it } from 'vitest'
import { call } from '../../../../src/sandbox/docker/engine/call.ts'
import { isConnectionError } from '../../../../src/sandbox/docker/engine/engine-error.ts'
import { engineReturns, isOutage } from '../../../../src/sandbox/docker/engine/engine-returns.ts'
import { removeSelected } from '../../../../src/sandbox/docker/remove.ts'
import { fakeEngine } from '../../../support/fake-engine.ts'

const failure = (promise: Promise<unknown>) =>
  promise.then(
    (value) => expect.fail(`it resolved to ${String(value)}`),
    (error: unknown) => error,
  )

it('an answer that breaks off in its midst fails its call at once', async () => {
  await using fake = await fakeEngine((_call, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    reply.write('{"Id": ')
    setTimeout(() => reply.destroy(), 50)
  })
  const error = await failure(call('look', {}, () => fake.engine.control.getContainer('a').inspect()))
  expect(isConnectionError(error)).toBe(true)
  expect((error as Error).message).toBe('look: the answer broke off')
})

it('an answer that is no JSON is an error, not an object without fields', async () => {
  await using fake = await fakeEngine((_call, reply) => reply.writeHead(200).end('{"Id": "ab'))
  const error = await failure(call('look', {}, () => fake.engine.control.getImage('a').inspect()))
  expect(isOutage(error)).toBe(true)
  expect((error as Error).message).toMatch(/cannot be read/)
})

it('a create that is not told what it made has no answer, other calls need none', async () => {
  await using fake = await fakeEngine((_call, reply) => reply.writeHead(201).end())
  const { control } = fake.engine
  const image = { Image: 'a', name: 'b' }
  const created = call('create', {}, () => control.createContainer(image))
  expect(isOutage(await failure(created))).toBe(true)
  const exec = call('exec', {}, () => control.getContainer('a').exec({ Cmd: ['true'] }))
  expect(isOutage(await failure(exec))).toBe(true)
  await control.getImage('a').tag({ repo: 'b', tag: 'c' })
})

it('answers without a body, of null and of plain text are none of those', async () => {
  const bodies: Record<string, string> = { 'GET /_ping': 'OK', 'GET /containers/json': 'null' }
  await using fake = await fakeEngine((sent, reply) => void reply.writeHead(200).end(bodies[sent] ?? 'log\n'))
  const { control } = fake.engine
  await control.ping()
  await control.listContainers()
  expect(String(await control.getContainer('a').logs({ stdout: true }))).toBe('log\n')
})

it('waits for an engine that does not answer, and no longer than it is to', async () => {
  let answers = 0
  await using fake = await fakeEngine((_call, reply) => {
    answers += 1
    if (answers < 4) reply.destroy()
    else reply.end('OK')
  })
  await engineReturns(fake.engine)
  expect(answers).toBe(4)
  answers = Number.NEGATIVE_INFINITY
  await engineReturns(fake.engine, { patienceMs: 500 })
  await engineReturns(fake.engine, { signal: AbortSignal.abort() })
})

it('a removal whose look fails looks again', async () => {
  let lists = 0
  await using fake = await fakeEngine((sent, reply) => {
    if (sent.startsWith('GET /containers/json')) lists += 1
    if (lists === 1) reply.writeHead(500).end('{"message":"busy"}')
    else reply.end(sent.startsWith('GET /volumes') ? '{"Volumes":null}' : '[]')
  })
  expect(await removeSelected(fake.engine, { run: 'r' })).toEqual({ removed: 0, left: [] })
  expect(lists).toBe(2)
})
