import { Duplex } from 'node:stream'
import { expect, it } from 'vitest'
import { GuestConnection, GuestLostError } from '../../../../src/sandbox/guest/connection.ts'
import { execOnGuest } from '../../../../src/sandbox/guest/exec.ts'
import { FieldWriter } from '../../../../src/sandbox/guest/fields.ts'
import { encodeFrame, type Frame, FrameDecoder } from '../../../../src/sandbox/guest/frame.ts'
import { spawnOnGuest } from '../../../../src/sandbox/guest/process.ts'
import { FrameType, Tag } from '../../../../src/sandbox/guest/protocol.ts'

const SIGKILL = 9

/** A guest that reports each command as killed, and then dies itself or lives on. */
function killedGuest({ diesToo }: { diesToo: boolean }): Duplex {
  let decoder: FrameDecoder | undefined
  let nonce: Buffer = Buffer.alloc(0)
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      if (!decoder) {
        nonce = Buffer.from(chunk.subarray(12, 28))
        decoder = new FrameDecoder(nonce)
      }
      for (const frame of decoder.push(chunk)) answer(frame)
      done()
    },
  })
  const send = (type: number, id: number, payload: Buffer = Buffer.alloc(0)) =>
    stream.push(encodeFrame({ type, id, payload }, nonce))
  const answer = ({ type, id }: Frame) => {
    if (type === FrameType.hello) send(FrameType.welcome, id)
    else if (type === FrameType.run)
      send(FrameType.exit, id, new FieldWriter().add(Tag.exitSignal, SIGKILL).finish())
    else if (type === FrameType.heartbeat && diesToo) stream.push(null)
    else if (type === FrameType.heartbeat) send(FrameType.heartbeatAck, id)
  }
  return stream
}

it('a command that is killed together with its guest has no result', async () => {
  await using connection = await GuestConnection.open(killedGuest({ diesToo: true }))
  await expect(execOnGuest(connection, ['true'])).rejects.toBeInstanceOf(GuestLostError)
  await using other = await GuestConnection.open(killedGuest({ diesToo: true }))
  const process = await spawnOnGuest(other, ['true'])
  await expect(process.wait()).rejects.toBeInstanceOf(GuestLostError)
})

it('one that is killed alone has', async () => {
  await using connection = await GuestConnection.open(killedGuest({ diesToo: false }))
  expect(await execOnGuest(connection, ['true'])).toMatchObject({ signal: 'SIGKILL', exitCode: null })
  const process = await spawnOnGuest(connection, ['true'])
  expect(await process.wait()).toMatchObject({ signal: 'SIGKILL', exitCode: null })
})
