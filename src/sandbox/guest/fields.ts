import { BadFrameError } from './frame.ts'

export type FieldValue = number | bigint | boolean | string | Uint8Array

/** A payload of tagged fields: u16 tag, u32 length, bytes; numbers are u64; all little-endian. */
export class FieldWriter {
  readonly #parts: Buffer[] = []

  add(tag: number, value: FieldValue | undefined): this {
    if (value === undefined) return this
    const bytes = fieldBytes(value)
    const head = Buffer.allocUnsafe(6)
    head.writeUInt16LE(tag, 0)
    head.writeUInt32LE(bytes.length, 2)
    this.#parts.push(head, bytes)
    return this
  }

  addAll(tag: number, values: Iterable<FieldValue>): this {
    for (const value of values) this.add(tag, value)
    return this
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

function fieldBytes(value: FieldValue): Buffer {
  if (typeof value === 'string') return Buffer.from(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

export interface Field {
  readonly tag: number
  readonly bytes: Buffer
}

/** @throws BadFrameError */
export function* readFields(payload: Buffer): Generator<Field> {
  let at = 0
  while (at < payload.length) {
    const end = at + 6 <= payload.length ? at + 6 + payload.readUInt32LE(at + 2) : Number.POSITIVE_INFINITY
    if (end > payload.length) throw new BadFrameError('a field that ends after its frame')
    yield { tag: payload.readUInt16LE(at), bytes: payload.subarray(at + 6, end) }
    at = end
  }
}

export function fieldNumber(bytes: Buffer): number {
  let value = 0n
  for (let index = Math.min(bytes.length, 8) - 1; index >= 0; index--)
    value = (value << 8n) | BigInt(bytes[index] ?? 0)
  return Number(value)
}

/** The fields of one answer, each tag at most once. */
export class FieldReader {
  readonly #fields = new Map<number, Buffer>()

  constructor(payload: Buffer) {
    for (const field of readFields(payload)) this.#fields.set(field.tag, field.bytes)
  }

  has(tag: number): boolean {
    return this.#fields.has(tag)
  }

  number(tag: number): number | undefined {
    const bytes = this.#fields.get(tag)
    return bytes && fieldNumber(bytes)
  }

  text(tag: number): string | undefined {
    return this.#fields.get(tag)?.toString()
  }
}
