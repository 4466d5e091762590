import { createReadStream } from 'node:fs'
import { ConfigError, errorMessage } from '../../errors.ts'

export interface JournalLine {
  /** From 1. */
  readonly number: number
  /** Of the first byte in the file. */
  readonly offset: number
  /** Without the line break. */
  readonly bytes: Buffer
}

const CHUNK_BYTES = 1 << 20
const NEWLINE = 0x0a

/** Streams the lines of a file that are not empty; the last may lack its line break. @throws ConfigError when it cannot be read */
export async function* journalLines(path: string): AsyncGenerator<JournalLine> {
  let parts: Buffer[] = []
  let offset = 0
  let number = 0
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
      const bytes: Buffer = chunk
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        const line = joined([...parts, bytes.subarray(start, end)])
        parts = []
        number++
        if (line.length > 0) yield { number, offset, bytes: line }
        offset += line.length + 1
        start = end + 1
      }
      if (start < bytes.length) parts.push(bytes.subarray(start))
    }
  } catch (error) {
    throw new ConfigError(`cannot read the log: ${errorMessage(error)}`, { where: path, cause: error })
  }
  if (parts.length > 0) yield { number: number + 1, offset, bytes: joined(parts) }
}

function joined(parts: Buffer[]): Buffer {
  const [only] = parts
  return parts.length === 1 && only ? only : Buffer.concat(parts)
}
