import { ConfigError } from '../../errors.ts'
import { type LogRecord, logRecordSchema } from '../records/records.ts'
import { isSound, jsonOf } from './journal-line.ts'
import { type JournalLine, journalLines } from './journal-lines.ts'

export interface JournalReadOptions {
  /** Told of each damaged line that is followed by others; without it such a line is an error. */
  readonly onDamaged?: (line: JournalLine) => void
}

/** Streams the records of a journal. A torn last line, as a crash leaves it, is left out. @throws ConfigError on anything else that is no record */
export async function* readJournal(
  path: string,
  options: JournalReadOptions = {},
): AsyncGenerator<LogRecord> {
  for await (const lines of soundLines(path, options))
    for (const { line, json } of lines) yield parseRecord(json, `${path}:${line.number}`)
}

const EVENT = /^\{"type":"event","uuid":"([^"\\]+)"/
const HEAD_BYTES = 200

/** A line whose checksum is right. Most are passed over for what they begin with: only the others are decoded. */
export class SoundLine {
  readonly line: JournalLine

  constructor(line: JournalLine) {
    this.line = line
  }

  get json(): string {
    return jsonOf(this.line.bytes)
  }

  /** Of the sample that the line tells an event of, where it does. */
  get eventUuid(): string | undefined {
    return EVENT.exec(this.line.bytes.toString('latin1', 0, HEAD_BYTES))?.[1]
  }
}

/** The lines whose checksums are right, as many at a time as are read at once. */
export async function* soundLines(
  path: string,
  options: JournalReadOptions = {},
): AsyncGenerator<readonly SoundLine[]> {
  let damaged: JournalLine | undefined
  for await (const lines of journalLines(path)) {
    const sound: SoundLine[] = []
    for (const line of lines) {
      if (damaged) reportDamaged(damaged, path, options)
      damaged = isSound(line.bytes) ? undefined : line
      if (!damaged) sound.push(new SoundLine(line))
    }
    yield sound
  }
  if (damaged?.number === 1) reportDamaged(damaged, path, {})
}

function reportDamaged(line: JournalLine, path: string, { onDamaged }: JournalReadOptions): void {
  if (onDamaged) {
    onDamaged(line)
    return
  }
  const isFirst = line.number === 1
  throw new ConfigError(
    isFirst ? 'not a belljar log' : 'a damaged line; belljar log recover makes a log of the sound ones',
    { where: `${path}:${line.number}` },
  )
}

/** @throws ConfigError */
export function parseRecord(json: string, where: string): LogRecord {
  const result = logRecordSchema.safeParse(JSON.parse(json))
  if (result.success) return result.data
  throw new ConfigError(`not a belljar log record: ${result.error.issues[0]?.message ?? 'unknown'}`, {
    where,
  })
}
