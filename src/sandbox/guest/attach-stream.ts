import { Duplex } from 'node:stream'
import { Demuxer } from '../docker/exec/demuxer.ts'

/**
 * The stdout of a container's attach or exec stream (without a terminal) as one duplex stream with its stdin.
 * The guest prints nothing to stderr, so what else comes is dropped. The socket is always read.
 */
export function attachStream(socket: Duplex): Duplex {
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk, _encoding, done) => void socket.write(chunk, done),
    writev: (chunks, done) => {
      socket.cork()
      for (const { chunk } of chunks.slice(0, -1)) socket.write(chunk)
      socket.write(chunks.at(-1)?.chunk, done)
      socket.uncork()
    },
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    },
  })
  const demuxer = new Demuxer((name, bytes) => name === 'stdout' && stream.push(bytes))
  socket.on('data', (chunk: Buffer) => {
    try {
      demuxer.push(chunk)
    } catch (error) {
      stream.destroy(error as Error)
    }
  })
  socket.on('end', () => stream.push(null))
  socket.on('error', (error) => stream.destroy(error))
  socket.on('close', () => stream.destroy())
  return stream
}
