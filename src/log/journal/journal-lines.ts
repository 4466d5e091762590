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

/**
 * Streams the lines of a file that are not empty, as many at a time as one piece of the file ends; the last may lack its line break.
 * @throws ConfigError when it cannot be read
 */
export async function* journalLines(path: string): AsyncGenerator<readonly JournalLine[]> {
  const cutter = new LineCutter()
  yield* newLines(path, cutter)
  yield cutter.rest()
}

/** The lines that a file has gained since the cutter's last one, without one that has no line break yet. @throws ConfigError when it cannot be read */
export async function* newLines(path: string, cutter: LineCutter): AsyncGenerator<readonly JournalLine[]> {
  cutter.startOver()
  try {
    const options = { start: cutter.offset, highWaterMark: CHUNK_BYTES }
    for await (const chunk of createReadStream(path, options)) yield cutter.cut(chunk)
  } catch (error) {
    throw new ConfigError(`cannot read the log: ${errorMessage(error)}`, { where: path, cause: error })
  }
}

export class LineCutter {
  #parts: Buffer[] = []
  #offset = 0
  #number = 0

  /** Just after the last whole line. */
  get offset(): number {
    return this.#offset
  }

  /** What has no line break yet is read again. */
  startOver(): void {
    this.#parts = []
  }

  cut(bytes: Buffer): JournalLine[] {
    const lines: JournalLine[] = []
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const line = joined([...this.#parts, bytes.subarray(start, end)])
      this.#parts = []
      this.#number++
      if (line.length > 0) lines.push({ number: this.#number, offset: this.#offset, bytes: line })
      this.#offset += line.length + 1
      start = end + 1
    }
    if (start < bytes.length) this.#parts.push(bytes.subarray(start))
    return lines
  }

  rest(): JournalLine[] {
    if (this.#parts.length === 0) return []
    return [{ number: this.#number + 1, offset: this.#offset, bytes: joined(this.#parts) }]
  }
}

function joined(parts: Buffer[]): Buffer {
  const [only] = parts
  return parts.length === 1 && only ? only : Buffer.concat(parts)
}
