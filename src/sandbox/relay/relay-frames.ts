/** Frames between a relay in a sandbox and this process: length (4 bytes), type (1), connection (4), payload; numbers little-endian. */
export const RelayFrameType = { listening: 1, open: 2, data: 3, end: 4, close: 5, credit: 6 } as const

export interface RelayFrame {
  readonly type: number
  readonly connection: number
  readonly payload: Buffer
}

const HEADER = 9
export const RELAY_DATA_MAX = 64 * 1024
/** Bytes of one connection that may be under way in one direction. */
export const RELAY_WINDOW = 256 * 1024

const NOTHING = Buffer.alloc(0)

export function relayFrame(type: number, connection: number, payload: Uint8Array = NOTHING): Buffer {
  const frame = Buffer.allocUnsafe(HEADER + payload.length)
  frame.writeUInt32LE(payload.length, 0)
  frame[4] = type
  frame.writeUInt32LE(connection, 5)
  frame.set(payload, HEADER)
  return frame
}

export function relayNumber(value: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32LE(value)
  return payload
}

/** Frames out of a stream of bytes. @throws Error for what no relay sends */
export async function* relayFrames(output: AsyncIterable<Uint8Array>): AsyncGenerator<RelayFrame> {
  let held: Buffer = NOTHING
  for await (const bytes of output) {
    held = held.length === 0 ? Buffer.from(bytes) : Buffer.concat([held, bytes])
    let at = 0
    while (held.length - at >= HEADER) {
      const length = held.readUInt32LE(at)
      if (length > RELAY_DATA_MAX) throw new Error('what the relay sent is no frame')
      const end = at + HEADER + length
      if (held.length < end) break
      yield {
        type: held[at + 4] ?? 0,
        connection: held.readUInt32LE(at + 5),
        payload: held.subarray(at + HEADER, end),
      }
      at = end
    }
    held = held.subarray(at)
  }
}
