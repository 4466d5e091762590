import { type FileHandle, open } from 'node:fs/promises'
import type { TranscriptEvent } from '../agent/transcript.ts'
import { ConfigError } from '../errors.ts'
import { EvalWriter } from './eval/eval-writer.ts'
import { JournalEvents } from './journal/journal-events.ts'
import { journalLines } from './journal/journal-lines.ts'
import { parseRecord, type SoundLine, soundLines } from './journal/read-journal.ts'
import type { FooterRecord, HeaderRecord, LogRecord, SampleRecord, SampleStartRecord } from './records.ts'
import { cancelledRecord, recoveredFooter } from './recovered.ts'

export interface ConvertJournalOptions {
  /** Whether a journal without an end, or with damaged lines, becomes a log too: what was under way as cancelled. */
  readonly recover: boolean
}

export interface ConvertedJournal {
  readonly footer: FooterRecord
  readonly members: number
  readonly samples: number
  /** Samples that were under way. */
  readonly cancelled: number
  readonly damagedLines: number
}

/** Writes the finished log of a journal. @throws ConfigError when the journal has no end and is not to be recovered */
export async function convertJournal(
  journalPath: string,
  target: string,
  options: ConvertJournalOptions,
): Promise<ConvertedJournal> {
  const file = await open(journalPath, 'r')
  const conversion = new JournalConversion(journalPath, file, target)
  try {
    conversion.superseded = await supersededIn(journalPath)
    const onDamaged = options.recover ? () => conversion.countDamaged() : undefined
    for await (const lines of soundLines(journalPath, { onDamaged }))
      for (const line of lines) {
        const taken = conversion.take(line)
        if (taken !== undefined) await taken
      }
    return await conversion.end(options)
  } catch (error) {
    await conversion.abandon()
    throw error
  } finally {
    await file.close()
  }
}

const EVENT = /^\{"type":"event","uuid":"([^"\\]+)"/

class JournalConversion {
  readonly #path: string
  readonly #target: string
  readonly #events: JournalEvents
  readonly #started = new Map<string, SampleStartRecord>()
  /** uuids of the records that others take the place of. */
  superseded: ReadonlySet<string> = new Set()
  #writer: EvalWriter | undefined
  #footer: FooterRecord | undefined
  #damaged = 0
  #lastMs = 0

  constructor(path: string, file: FileHandle, target: string) {
    this.#path = path
    this.#target = target
    this.#events = new JournalEvents(file, path)
  }

  countDamaged(): void {
    this.#damaged++
  }

  /** Resolves, where it has to be waited for, when the line has been taken into account. */
  take({ line, json }: SoundLine): Promise<void> | undefined {
    const [, uuid] = EVENT.exec(json.slice(0, 200)) ?? []
    if (uuid !== undefined) return void this.#events.note(uuid, line)
    const record = parseRecord(json, `${this.#path}:${line.number}`)
    if (record.type !== 'event') return this.#takeRecord(record)
    return void this.#events.note(record.uuid, line)
  }

  async end({ recover }: ConvertJournalOptions): Promise<ConvertedJournal> {
    const writer = this.#startedWriter()
    const cancelled = recover && !this.#footer ? await this.#cancelStarted(writer) : 0
    const footer = this.#footer ?? (recover ? recoveredFooter(writer.reductions, this.#lastMs) : undefined)
    if (!footer) {
      throw new ConfigError('the log has no end; belljar log recover makes a log of what there is', {
        where: this.#path,
      })
    }
    const members = await writer.end(footer)
    return { footer, members, samples: writer.reductions.samples, cancelled, damagedLines: this.#damaged }
  }

  async abandon(): Promise<void> {
    await this.#writer?.abandon()
  }

  #takeRecord(record: Exclude<LogRecord, { type: 'event' }>): Promise<void> | undefined {
    switch (record.type) {
      case 'header':
        return this.#begin(record)
      case 'sample-start':
        this.#started.set(record.uuid, record)
        return undefined
      case 'sample':
        return this.#takeSample(record)
      case 'footer':
        this.#footer = record
        return undefined
      default:
        return void this.#startedWriter().addOther(record)
    }
  }

  async #begin(header: HeaderRecord): Promise<void> {
    this.#lastMs = Date.parse(header.createdAt)
    this.#writer = await EvalWriter.create(this.#target, header)
  }

  async #takeSample(record: SampleRecord): Promise<void> {
    const uuids = [...(record.earlier ?? []).map(({ uuid }) => uuid), record.uuid]
    const events: TranscriptEvent[] = []
    for (const uuid of uuids) {
      this.#started.delete(uuid)
      events.push(...(await this.#events.take(uuid)))
    }
    this.#lastMs = Math.max(this.#lastMs, Date.parse(record.completedAt))
    const writer = this.#startedWriter()
    if (this.superseded.has(record.uuid)) await writer.addSuperseded(record, events)
    else await writer.addSample(record, events)
  }

  async #cancelStarted(writer: EvalWriter): Promise<number> {
    for (const start of this.#started.values()) {
      const events = await this.#events.take(start.uuid)
      const lastMs = events.reduce((latest, { startedMs }) => Math.max(latest, startedMs), this.#lastMs)
      await writer.addSample(cancelledRecord(start, lastMs), events)
    }
    return this.#started.size
  }

  #startedWriter(): EvalWriter {
    if (this.#writer) return this.#writer
    throw new ConfigError('the log has no header', { where: this.#path })
  }
}

const SUPERSEDES = Buffer.from('"supersedes":"')
const SAMPLE = Buffer.from('{"type":"sample"')

/** Known before the conversion begins, as what is written is not taken back. */
async function supersededIn(path: string): Promise<Set<string>> {
  const uuids = new Set<string>()
  for await (const lines of journalLines(path)) {
    for (const { bytes } of lines) {
      const superseded = supersededBy(bytes)
      if (superseded !== undefined) uuids.add(superseded)
    }
  }
  return uuids
}

function supersededBy(line: Buffer): string | undefined {
  const isSample = line.compare(SAMPLE, 0, SAMPLE.length, 0, Math.min(SAMPLE.length, line.length)) === 0
  if (!isSample || !line.includes(SUPERSEDES)) return undefined
  const { supersedes } = JSON.parse(line.toString('utf8')) as { supersedes?: unknown }
  return typeof supersedes === 'string' ? supersedes : undefined
}
