import { FRAME_HEADER, FRAME_MAX, NONCE_LENGTH, PROTOCOL_VERSION } from './protocol.ts'

export interface Frame {
  readonly type: number
  readonly id: number
  readonly payload: Buffer
}

/** What came is not what a guest with this nonce sends. */
export class BadFrameError extends Error {
  override readonly name = 'BadFrameError'
}

export function encodeHeader(frame: { type: number; id: number; length: number }, nonce: Uint8Array): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER)
  header.writeUInt32LE(frame.length + FRAME_HEADER - 4, 0)
  header[4] = PROTOCOL_VERSION
  header[5] = frame.type
  header.writeUInt16LE(0, 6)
  header.writeUInt32LE(frame.id, 8)
  header.set(nonce, 12)
  return header
}

export function encodeFrame(frame: Frame, nonce: Uint8Array): Buffer {
  const header = encodeHeader({ ...frame, length: frame.payload.length }, nonce)
  return Buffer.concat([header, frame.payload])
}

/** Puts frames together from chunks of any size; copies only frames that lie in several chunks. */
export class FrameDecoder {
  readonly #nonce: Buffer
  #chunks: Buffer[] = []
  #length = 0
  #needed = FRAME_HEADER

  constructor(nonce: Uint8Array) {
    this.#nonce = Buffer.from(nonce)
  }

  /** @throws BadFrameError */
  *push(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#length < this.#needed) return
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    for (;;) {
      this.#needed = neededBytes(rest)
      if (rest.length < this.#needed) break
      const bytes = rest.subarray(0, this.#needed)
      rest = rest.subarray(this.#needed)
      yield this.#frame(bytes)
    }
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#length = rest.length
  }

  #frame(bytes: Buffer): Frame {
    const nonce = bytes.subarray(12, 12 + NONCE_LENGTH)
    if (bytes[4] !== PROTOCOL_VERSION || bytes.readUInt16LE(6) !== 0 || !nonce.equals(this.#nonce))
      throw new BadFrameError('a frame without the version or nonce of this connection')
    return { type: bytes[5] ?? 0, id: bytes.readUInt32LE(8), payload: bytes.subarray(FRAME_HEADER) }
  }
}

function neededBytes(bytes: Buffer): number {
  if (bytes.length < 4) return FRAME_HEADER
  const length = bytes.readUInt32LE(0)
  if (length < FRAME_HEADER - 4 || length > FRAME_MAX)
    throw new BadFrameError(`a frame of ${length} bytes, expected ${FRAME_HEADER - 4} to ${FRAME_MAX}`)
  return 4 + length
}
