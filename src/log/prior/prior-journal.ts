import { type FileHandle, open } from 'node:fs/promises'
import { ConfigError, errorMessage } from '../../errors.ts'
import { openJournalLine } from '../journal/journal-line.ts'
import { checkedRecord, parseLine, recordOf, type SoundLine, soundLines } from '../journal/read-journal.ts'
import { ToldReader } from '../journal/told-messages.ts'
import type { LogRecord, SampleRecord } from '../records/records.ts'
import { isKept, PriorIndex } from './prior-index.ts'
import { type PriorLog, sampleKey } from './prior-log.ts'

const SAMPLE = '{"type":"sample",'
const LINE_BREAK = Buffer.from('\n')

interface Place {
  readonly offset: number
  readonly length: number
}

interface SamplePlace extends Place {
  /** The events whose messages it refers to. */
  readonly told: readonly Place[]
}

/** Where events are that hold messages, of the samples that have no record yet. */
class ToldPlaces {
  readonly #places = new Map<string, Place[]>()

  add(uuid: string, place: Place): void {
    const places = this.#places.get(uuid)
    if (places) places.push(place)
    else this.#places.set(uuid, [place])
  }

  take({ uuid, earlier = [] }: SampleRecord): readonly Place[] {
    const places = this.#places.get(uuid) ?? []
    for (const attempt of [...earlier, { uuid }]) this.#places.delete(attempt.uuid)
    return places
  }
}

/** Reads a journal that is to be resumed. A line that is no record is left out. @throws ConfigError when the file cannot be read */
export async function openPriorJournal(path: string): Promise<PriorLog> {
  const index = new PriorIndex()
  const places = new Map<string, SamplePlace>()
  const told = new ToldPlaces()
  /** uuids of all attempts whose events go with a record. */
  const kept = new Set<string>()
  /** What is neither sample nor event, by line. */
  const others = new Map<number, LogRecord>()
  let damaged = 0
  let problem: string | undefined
  try {
    for await (const sound of each(soundLines(path, { onDamaged: () => damaged++ }))) {
      const { line, eventUuid } = sound
      const place = { offset: line.offset, length: line.bytes.length }
      if (eventUuid !== undefined) {
        if (sound.hasMessages) told.add(eventUuid, place)
        continue
      }
      const record = recordOf(sound.json, `${path}:${line.number}`)
      if (record.type === 'event') continue
      index.take(record)
      others.set(line.number, record)
      if (record.type !== 'sample') continue
      others.delete(line.number)
      places.set(sampleKey(record), { ...place, told: told.take(record) })
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

async function loadAt(file: FileHandle, path: string, place: SamplePlace | undefined): Promise<SampleRecord> {
  const told = new ToldReader()
  for (const each of place?.told ?? []) told.event(await lineAt(file, path, each))
  const line = place && (await lineAt(file, path, place))
  const record = checkedRecord(told.sample(line ?? {}), path)
  if (record.type === 'sample') return record
  throw changed(path)
}

async function lineAt(file: FileHandle, path: string, { offset, length }: Place): Promise<unknown> {
  const bytes = Buffer.allocUnsafe(length)
  await file.read(bytes, 0, length, offset)
  const json = openJournalLine(bytes)
  if (json === undefined) throw changed(path)
  return parseLine(json)
}

function changed(path: string): ConfigError {
  return new ConfigError('the log changed while it was resumed', { where: path })
}

/** Lines as they are, with their checksums. */
async function* linesOf(path: string, isKeptLine: (line: SoundLine) => boolean): AsyncGenerator<Buffer> {
  for await (const sound of each(soundLines(path, { onDamaged: () => undefined })))
    if (isKeptLine(sound)) yield Buffer.concat([sound.line.bytes, LINE_BREAK])
}

async function* each<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch
}
