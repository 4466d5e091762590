import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { GuestConnection } from '../../../../src/sandbox/guest/connection.ts'
import { FieldWriter } from '../../../../src/sandbox/guest/fields.ts'
import { encodeFrame } from '../../../../src/sandbox/guest/frame.ts'
import { FrameType, Tag } from '../../../../src/sandbox/guest/protocol.ts'
import { guestBinary, hasGuest, runGuest } from './guest-process.ts'

const nonce = Buffer.alloc(16, 1)
const hello = (leaseMs = 60_000) =>
  encodeFrame(
    { type: FrameType.hello, id: 1, payload: new FieldWriter().add(Tag.leaseMs, leaseMs).finish() },
    nonce,
  )

function start() {
  const child = spawn(guestBinary, ['--local'], { stdio: 'pipe' })
  child.stdin.on('error', () => undefined)
  return { child, exited: once(child, 'exit') }
}

it('a guest that never answers the hello is given up', async () => {
  const mute = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
  const opening = GuestConnection.open(mute, { silenceMs: 20 })
  await expect(opening).rejects.toMatchObject({ reason: 'silent' })
  expect(mute.destroyed).toBe(true)
})

describe.skipIf(!hasGuest)('requests that are abandoned', () => {
  it('fail at once, and the guest ends what they asked for', async () => {
    await using guest = await runGuest()
    const process = await guest.sandbox.spawn(['sh', '-c', 'echo $$; exec sleep 300'])
    const exec = guest.sandbox.exec(['sleep', '300'])
    const writing = guest.sandbox.writeFile('half', Buffer.alloc(64 * 1024 * 1024))
    const results = Promise.allSettled([process.wait(), exec, writing])
    await new Promise((resolve) => setTimeout(resolve, 50))
    const reason = new Error('it stands still')
    guest.connection.abandon(reason)
    expect(await results).toEqual(
      [reason, reason, reason].map((error) => ({ status: 'rejected', reason: error })),
    )
    const gone = `while kill -0 ${process.pid}; do sleep 0.05; done; ls -A`
    expect((await guest.sandbox.exec(['sh', '-c', gone])).stdout).toBe('')
  })
})

describe.skipIf(!hasGuest)('the life of a guest', () => {
  it('says nothing before the hello', async () => {
    const { child, exited } = start()
    let said = 0
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.length
    })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(said).toBe(0)
    child.stdin.end()
    expect(await exited).toEqual([0, null])
  })

  it('ends when its lease is over', async () => {
    const { child, exited } = start()
    child.stdin.write(hello(150))
    const started = performance.now()
    expect(await exited).toEqual([0, null])
    expect(performance.now() - started).toBeGreaterThan(100)
  })

  it.each([
    ['garbage', Buffer.from('GET / HTTP/1.1\r\n\r\n and more of it')],
    [
      'a frame before the hello',
      encodeFrame({ type: FrameType.heartbeat, id: 0, payload: Buffer.alloc(0) }, nonce),
    ],
    [
      'another nonce',
      Buffer.concat([
        hello(),
        encodeFrame({ type: 2, id: 0, payload: Buffer.alloc(0) }, Buffer.alloc(16, 2)),
      ]),
    ],
    [
      'an unknown type',
      Buffer.concat([hello(), encodeFrame({ type: 200, id: 0, payload: Buffer.alloc(0) }, nonce)]),
    ],
    [
      'a torn field',
      Buffer.concat([hello(), encodeFrame({ type: 4, id: 2, payload: Buffer.from([1, 0, 9]) }, nonce)]),
    ],
  ])('ends on %s', async (_, bytes) => {
    const { child, exited } = start()
    child.stdin.write(bytes)
    expect((await exited)[0]).toBe(65)
  })

  it('ends with its commands when its input ends, even while nobody reads its output', async () => {
    const { child, exited } = start()
    const run = new FieldWriter().add(Tag.argument, 'yes').add(Tag.stream, true).add(Tag.credit, 1e9).finish()
    child.stdin.write(hello())
    child.stdin.write(encodeFrame({ type: FrameType.run, id: 2, payload: run }, nonce))
    await new Promise((resolve) => setTimeout(resolve, 300))
    child.stdin.end()
    expect(await exited).toEqual([0, null])
    child.stdout.destroy()
  })

  it('tells a lost heartbeat from a busy guest', async () => {
    await using guest = await runGuest({ heartbeatMs: 20, silenceMs: 100 })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect((await guest.sandbox.exec(['true'])).exitCode).toBe(0)
    guest.child.kill('SIGSTOP')
    expect((await guest.connection.lost).reason).toBe('silent')
    guest.child.kill('SIGCONT')
  })
})
