import { crc32 } from 'node:zlib'
import type { LogRecord } from '../records/records.ts'
import { toJson } from './jsonl.ts'

/** `,"crc":"` and eight digits and `"}`. */
const SEAL_LENGTH = 18
const CLOSE = Buffer.from('}')

/** Takes out of a JSON document what no log may hold. */
export type JsonMask = (json: string) => string

/** A record as a line: its JSON with one more field at the end, the CRC-32 of the JSON without that field. @throws TypeError on a cycle */
export function toJournalLine(record: LogRecord, mask?: JsonMask): string {
  const json = mask ? mask(toJson(record)) : toJson(record)
  return `${json.slice(0, -1)},"crc":"${crc32(json).toString(16).padStart(8, '0')}"}\n`
}

/** The JSON of a line without its line break; undefined when the line is torn or damaged. */
export function openJournalLine(line: Buffer): string | undefined {
  const body = line.subarray(0, -SEAL_LENGTH)
  const seal = /^,"crc":"([0-9a-f]{8})"\}$/.exec(line.subarray(-SEAL_LENGTH).toString('latin1'))
  if (!seal || crc32(CLOSE, crc32(body)) !== Number.parseInt(seal[1] ?? '', 16)) return undefined
  return `${body.toString('utf8')}}`
}
