import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Demuxer, type StreamName } from '../../../../src/sandbox/docker/exec/demuxer.ts'
import { type Mark, MarkScanner } from '../../../../src/sandbox/docker/exec/mark-scanner.ts'
import { TailBuffer } from '../../../../src/sandbox/docker/exec/tail-buffer.ts'

const bytes = (maxLength = 200) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))

function frame(stream: StreamName, payload: Buffer): Buffer {
  const header = Buffer.alloc(8)
  header[0] = stream === 'stdout' ? 1 : 2
  header.writeUInt32BE(payload.length, 4)
  return Buffer.concat([header, payload])
}

/** The same bytes in chunks that end at the given places. */
function chunks(whole: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length].sort((a, b) => a - b)
  return places.slice(1).map((end, index) => whole.subarray(places[index], end))
}

test('frames come apart into their streams, however they are cut into chunks', () => {
  const frames = fc.array(fc.tuple(fc.constantFrom<StreamName>('stdout', 'stderr'), bytes()))
  fc.assert(
    fc.property(frames, fc.array(fc.nat()), (sent, cuts) => {
      const got = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
      const demuxer = new Demuxer((stream, payload) => got[stream].push(Buffer.from(payload)))
      for (const chunk of chunks(Buffer.concat(sent.map((one) => frame(...one))), cuts)) demuxer.push(chunk)
      for (const stream of ['stdout', 'stderr'] as const) {
        const expected = sent.filter(([name]) => name === stream).map(([, payload]) => payload)
        expect(Buffer.concat(got[stream]).equals(Buffer.concat(expected))).toBe(true)
      }
      expect(demuxer.incomplete).toBe(false)
    }),
  )
})

test('a stream that ends in a frame is incomplete, and one that is none is refused', () => {
  const demuxer = new Demuxer(() => undefined)
  demuxer.push(frame('stdout', Buffer.from('hello')).subarray(0, 10))
  expect(demuxer.incomplete).toBe(true)
  expect(() => new Demuxer(() => undefined).push(Buffer.from('HTTP/1.1 500 nope'))).toThrow('unknown type')
})

test('one chunk of 100,000 frames of one byte is taken apart', () => {
  let count = 0
  const demuxer = new Demuxer(() => {
    count += 1
  })
  demuxer.push(Buffer.concat(Array.from({ length: 100_000 }, () => frame('stdout', Buffer.from('x')))))
  expect(count).toBe(100_000)
})

test('a tail buffer keeps the last bytes up to its cap and counts all', () => {
  fc.assert(
    fc.property(fc.nat(300), fc.array(bytes()), (cap, writes) => {
      const tail = new TailBuffer(cap)
      for (const data of writes) tail.write(data)
      const all = Buffer.concat(writes)
      expect(tail.bytes().equals(all.subarray(Math.max(0, all.length - cap)))).toBe(true)
      expect(tail.totalBytes).toBe(all.length)
      expect(tail.truncated).toBe(all.length > cap)
    }),
  )
})

test('a character that the cap cuts is left out; other invalid bytes are replaced', () => {
  const tail = new TailBuffer(4)
  tail.write(Buffer.from('x€yz'))
  expect(tail.text()).toBe('yz')
  const whole = new TailBuffer(100)
  whole.write(Buffer.from([0xff, 0x41, 0xe2, 0x82]))
  expect(whole.text()).toBe('\ufffdA\ufffd')
})

test('marks are taken out of a stream and everything else stays, however it is cut', () => {
  const prefix = '\x1esecret'
  const part = fc.oneof(
    bytes(20).map((data) => ({ data })),
    fc.constantFrom('\x1e', '\x1esec', '\x1e\x1e', ';').map((text) => ({ data: Buffer.from(text) })),
    fc
      .tuple(fc.constantFrom('s', 'e', 'l'), fc.nat(99999))
      .map(([letter, value]) => ({ mark: { letter, value } })),
  )
  fc.assert(
    fc.property(fc.array(part), fc.array(fc.nat()), (parts, cuts) => {
      const stream = parts.map((one) =>
        'mark' in one ? Buffer.from(`${prefix}${one.mark.letter}${one.mark.value};`) : one.data,
      )
      const data: Buffer[] = []
      const marks: Mark[] = []
      const scanner = new MarkScanner(
        prefix,
        (some) => data.push(Buffer.from(some)),
        (mark) => marks.push(mark),
      )
      for (const chunk of chunks(Buffer.concat(stream), cuts)) scanner.push(chunk)
      scanner.finish()
      expect(marks).toEqual(parts.flatMap((one) => ('mark' in one ? [one.mark] : [])))
      const expected = Buffer.concat(parts.flatMap((one) => ('mark' in one ? [] : [one.data])))
      expect(Buffer.concat(data).equals(expected)).toBe(true)
    }),
  )
})

test('output that cannot be a mark is passed on at once', () => {
  const seen: string[] = []
  const scanner = new MarkScanner(
    '\x1esecret',
    (data) => seen.push(data.toString()),
    () => undefined,
  )
  scanner.push(Buffer.from('hello'))
  scanner.push(Buffer.from('wait\x1esec'))
  expect(seen).toEqual(['hello', 'wait'])
  scanner.push(Buffer.from('X'))
  expect(seen.join('')).toBe('hellowait\x1esecX')
})
