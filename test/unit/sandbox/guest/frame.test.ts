import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FieldWriter, fieldNumber, readFields } from '../../../../src/sandbox/guest/fields.ts'
import { BadFrameError, encodeFrame, type Frame, FrameDecoder } from '../../../../src/sandbox/guest/frame.ts'

const nonce = Buffer.alloc(16, 7)
const anyFrame = fc.record({
  type: fc.integer({ min: 0, max: 255 }),
  id: fc.integer({ min: 0, max: 0xffffffff }),
  payload: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
})

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

describe('frames', () => {
  it('come out as they went in, however the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(anyFrame),
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }),
        (frames, sizes) => {
          const bytes = Buffer.concat(frames.map((frame) => encodeFrame(frame, nonce)))
          const decoder = new FrameDecoder(nonce)
          const decoded: Frame[] = []
          for (const chunk of cut(bytes, sizes)) decoded.push(...decoder.push(chunk))
          expect(decoded).toEqual(frames)
        },
      ),
    )
  })

  it('are refused when a bit of length, version, reserve or nonce is wrong', () => {
    const checked = [3, 4, 6, 7, ...Array.from({ length: 16 }, (_, index) => 12 + index)]
    fc.assert(
      fc.property(anyFrame, fc.constantFrom(...checked), fc.integer({ min: 0, max: 7 }), (frame, at, bit) => {
        const bytes = encodeFrame(frame, nonce)
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
        const decoder = new FrameDecoder(nonce)
        let decoded = 0
        try {
          decoded = [...decoder.push(bytes)].length
        } catch (error) {
          expect(error).toBeInstanceOf(BadFrameError)
        }
        expect(decoded).toBe(0)
      }),
    )
  })

  it('never make the decoder throw anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          expect([...new FrameDecoder(nonce).push(Buffer.from(bytes))]).toEqual([])
        } catch (error) {
          expect(error).toBeInstanceOf(BadFrameError)
        }
      }),
    )
  })
})

describe('fields', () => {
  const anyField = fc.oneof(
    fc.record({ tag: fc.integer({ min: 1, max: 65_535 }), value: fc.string() }),
    fc.record({
      tag: fc.integer({ min: 1, max: 65_535 }),
      value: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    }),
  )

  it('come out as they went in', () => {
    fc.assert(
      fc.property(fc.array(anyField), (fields) => {
        const writer = new FieldWriter()
        for (const field of fields) writer.add(field.tag, field.value)
        const read = [...readFields(writer.finish())]
        expect(read.map((field) => field.tag)).toEqual(fields.map((field) => field.tag))
        read.forEach((field, index) => {
          const value = fields[index]?.value
          expect(typeof value === 'string' ? field.bytes.toString() : fieldNumber(field.bytes)).toBe(
            typeof value === 'string' ? Buffer.from(value).toString() : value,
          )
        })
      }),
    )
  })

  it('that end after their frame are refused', () => {
    expect(() => [...readFields(Buffer.from([1, 0, 5, 0, 0, 0, 1]))]).toThrow(BadFrameError)
    expect(() => [...readFields(Buffer.from([1, 0, 5]))]).toThrow(BadFrameError)
  })
})
