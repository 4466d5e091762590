import { crc32 } from 'node:zlib'
import { toJson } from './jsonl.ts'
import type { PreparedLine } from './told-messages.ts'

/** `,"crc":"` and eight digits and `"}`. */
const SEAL_LENGTH = 18
const CLOSE = Buffer.from('}')

/** Takes out of a JSON document what no log may hold. */
export type JsonMask = (json: string) => string

/** A record as a line: its JSON with one more field at the end, the CRC-32 of the JSON without that field. @throws TypeError on a cycle */
export function toJournalLine(record: PreparedLine['line'], mask?: JsonMask): Buffer {
  const json = mask ? mask(toJson(record)) : toJson(record)
  const length = Buffer.byteLength(json)
  const line = Buffer.allocUnsafe(length + SEAL_LENGTH)
  line.write(json)
  const crc = crc32(line.subarray(0, length)).toString(16).padStart(8, '0')
  // In place of the bracket that closes the JSON.
  line.write(`,"crc":"${crc}"}\n`, length - 1)
  return line
}

/** Whether a line, without its line break, is neither torn nor damaged. */
export function isSound(line: Buffer): boolean {
  const seal = /^,"crc":"([0-9a-f]{8})"\}$/.exec(line.subarray(-SEAL_LENGTH).toString('latin1'))
  const crc = crc32(CLOSE, crc32(line.subarray(0, -SEAL_LENGTH)))
  return seal !== null && crc === Number.parseInt(seal[1] ?? '', 16)
}

/** The JSON of a sound line. */
export function jsonOf(line: Buffer): string {
  return `${line.toString('utf8', 0, line.length - SEAL_LENGTH)}}`
}

/** The JSON of a line without its line break; undefined when the line is torn or damaged. */
export function openJournalLine(line: Buffer): string | undefined {
  return isSound(line) ? jsonOf(line) : undefined
}
