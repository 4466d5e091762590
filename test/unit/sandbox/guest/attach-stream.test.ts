import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attachStream } from '../../../../src/sandbox/guest/attach-stream.ts'

function packet(type: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(8)
  header[0] = type
  header.writeUInt32BE(payload.length, 4)
  return Buffer.concat([header, payload])
}

function socketOf(chunks: readonly Buffer[]) {
  const written: Buffer[] = []
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk, _encoding, done) => {
      written.push(chunk)
      done()
    },
  })
  for (const chunk of chunks) socket.push(chunk)
  return { socket, written }
}

describe('the stream of an attached container', () => {
  it('gives the bytes of stdout alone, however the socket cuts them', async () => {
    const packets = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 40 })))
    await fc.assert(
      fc.asyncProperty(packets, fc.integer({ min: 1, max: 30 }), async (parts, size) => {
        const bytes = Buffer.concat(parts.map(([type, payload]) => packet(type, Buffer.from(payload))))
        const chunks: Buffer[] = []
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
        const { socket } = socketOf(chunks)
        const stream = attachStream(socket)
        socket.push(null)
        const received: Buffer[] = []
        for await (const chunk of stream) received.push(chunk)
        const expected = parts.filter(([type]) => type === 1).map(([, payload]) => payload)
        expect(Buffer.concat(received)).toEqual(Buffer.concat(expected))
      }),
    )
  })

  it('fails on bytes that are no such stream, and takes the socket with it', async () => {
    const { socket } = socketOf([Buffer.from('HTTP/1.1 500 no\r\n')])
    const stream = attachStream(socket)
    await expect(stream.toArray()).rejects.toThrow('unknown type')
    expect(socket.destroyed).toBe(true)
  })

  it('writes through', async () => {
    const { socket, written } = socketOf([])
    const stream = attachStream(socket)
    stream.cork()
    stream.write('a')
    stream.write('b')
    stream.uncork()
    await new Promise<void>((resolve) => stream.end(resolve))
    expect(Buffer.concat(written).toString()).toBe('ab')
    stream.destroy()
  })
})
