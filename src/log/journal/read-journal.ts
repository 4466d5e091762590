import { ConfigError } from '../../errors.ts'
import { type LogRecord, logRecordSchema } from '../records/records.ts'
import { isSound, jsonOf } from './journal-line.ts'
import { type JournalLine, journalLines } from './journal-lines.ts'
import { ToldReader } from './told-messages.ts'

export interface JournalReadOptions {
  /** Told of each damaged line that is followed by others; without it such a line is an error. */
  readonly onDamaged?: (line: JournalLine) => void
}

/** Streams the records of a journal. A torn last line, as a crash leaves it, is left out. @throws ConfigError on anything else that is no record */
export async function* readJournal(
  path: string,
  options: JournalReadOptions = {},
): AsyncGenerator<LogRecord> {
  const readers = new Map<string, ToldReader>()
  for await (const lines of soundLines(path, options)) {
    for (const { line, json } of lines) {
      const record = checkedRecord(whole(parseLine(json), readers), `${path}:${line.number}`)
      if (record.type === 'sample')
        for (const { uuid } of [...(record.earlier ?? []), record]) readers.delete(uuid)
      yield record
    }
  }
}

/** A line with the messages that it has from others of the sample under way. */
function whole(line: unknown, readers: Map<string, ToldReader>): unknown {
  const { type } = line as { type?: unknown }
  if (type !== 'event' && type !== 'sample') return line
  const uuid = uuidOf(line)
  const reader = readers.get(uuid) ?? new ToldReader()
  readers.set(uuid, reader)
  return type === 'event' ? reader.event(line) : reader.sample(line)
}

const EVENT = /^\{"type":"event","uuid":"([^"\\]+)"/
const HEAD_BYTES = 200
const TELLING = ['"type":"model-output"', '"type":"tool-call"']

/** A line whose checksum is right. Most are passed over for what they begin with: only the others are decoded. */
export class SoundLine {
  readonly line: JournalLine

  constructor(line: JournalLine) {
    this.line = line
  }

  get json(): string {
    return jsonOf(this.line.bytes)
  }

  /** Whether an event may hold messages. */
  get hasMessages(): boolean {
    return TELLING.some((type) => this.line.bytes.includes(type))
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

/** What a line says, unchecked. */
export function parseLine(json: string): unknown {
  return JSON.parse(json)
}

/** Of the sample that a line is of; empty where it is of none. */
export function uuidOf(line: unknown): string {
  const { uuid } = line as { uuid?: unknown }
  return typeof uuid === 'string' ? uuid : ''
}

/** @throws ConfigError */
export function checkedRecord(line: unknown, where: string): LogRecord {
  const result = logRecordSchema.safeParse(line)
  if (result.success) return result.data
  throw new ConfigError(`not a belljar log record: ${result.error.issues[0]?.message ?? 'unknown'}`, {
    where,
  })
}

/** The record of a line that is no event; of a sample without the messages that other lines hold. @throws ConfigError */
export function recordOf(json: string, where: string): LogRecord {
  return checkedRecord(new ToldReader().sample(parseLine(json)), where)
}
