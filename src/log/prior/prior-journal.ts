import { type FileHandle, open } from 'node:fs/promises'
import { ConfigError, errorMessage } from '../../errors.ts'
import { openJournalLine } from '../journal/journal-line.ts'
import type { JournalLine } from '../journal/journal-lines.ts'
import { parseRecord, type SoundLine, soundLines } from '../journal/read-journal.ts'
import type { LogRecord, SampleRecord } from '../records/records.ts'
import { isKept, PriorIndex } from './prior-index.ts'
import { type PriorLog, sampleKey } from './prior-log.ts'

const SAMPLE = '{"type":"sample",'
const LINE_BREAK = Buffer.from('\n')

/** Reads a journal that is to be resumed. A line that is no record is left out. @throws ConfigError when the file cannot be read */
export async function openPriorJournal(path: string): Promise<PriorLog> {
  const index = new PriorIndex()
  const places = new Map<string, Pick<JournalLine, 'offset'> & { length: number }>()
  /** uuids of all attempts whose events go with a record. */
  const kept = new Set<string>()
  /** What is neither sample nor event, by line. */
  const others = new Map<number, LogRecord>()
  let damaged = 0
  let problem: string | undefined
  try {
    for await (const sound of each(soundLines(path, { onDamaged: () => damaged++ }))) {
      if (sound.eventUuid !== undefined) continue
      const { line } = sound
      const record = parseRecord(sound.json, `${path}:${line.number}`)
      if (record.type === 'event') continue
      index.take(record)
      others.set(line.number, record)
      if (record.type !== 'sample') continue
      others.delete(line.number)
      places.set(sampleKey(record), { offset: line.offset, length: line.bytes.length })
      for (const { uuid } of [...(record.earlier ?? []), record]) kept.add(uuid)
    }
  } catch (error) {
    if (index.header) throw error
    problem = errorMessage(error)
  }
  const file = await openFile(path)
  return {
    path,
    problem,
    header: index.header,
    footer: index.footer,
    samples: index.samples,
    configs: index.configs,
    state: index.state,
    added: index.added,
    warnings: damaged > 0 ? [`${damaged} damaged lines of ${path} are left out`] : [],
    load: (sample) => loadAt(file, path, places.get(sampleKey(sample))),
    lines: ({ withState }) => {
      const options = { added: new Set<LogRecord>(index.added), withState }
      return linesOf(path, ({ line, eventUuid }) => {
        if (eventUuid !== undefined) return kept.has(eventUuid)
        const other = others.get(line.number)
        return other ? isKept(other, options) : line.bytes.indexOf(SAMPLE) === 0
      })
    },
    [Symbol.asyncDispose]: () => file.close(),
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (error) {
    throw new ConfigError(`cannot read the log: ${errorMessage(error)}`, { where: path, cause: error })
  }
}

async function loadAt(
  file: FileHandle,
  path: string,
  place: { offset: number; length: number } | undefined,
): Promise<SampleRecord> {
  const bytes = Buffer.allocUnsafe(place?.length ?? 0)
  await file.read(bytes, 0, bytes.length, place?.offset ?? 0)
  const json = openJournalLine(bytes)
  const record = json === undefined ? undefined : parseRecord(json, path)
  if (record?.type === 'sample') return record
  throw new ConfigError('the log changed while it was resumed', { where: path })
}

/** Lines as they are, with their checksums. */
async function* linesOf(path: string, isKeptLine: (line: SoundLine) => boolean): AsyncGenerator<Buffer> {
  for await (const sound of each(soundLines(path, { onDamaged: () => undefined })))
    if (isKeptLine(sound)) yield Buffer.concat([sound.line.bytes, LINE_BREAK])
}

async function* each<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch
}
