import type { FileHandle } from 'node:fs/promises'
import type { TranscriptEvent } from '../../agent/transcript.ts'
import { ConfigError } from '../../errors.ts'
import { EvalWriter } from '../eval/file/eval-writer.ts'
import { JournalEvents } from '../journal/journal-events.ts'
import { checkedRecord, parseLine, type SoundLine, uuidOf } from '../journal/read-journal.ts'
import { cancelledRecord, recoveredFooter } from '../journal/recovered.ts'
import type { FooterRecord, HeaderRecord, LogRecord, SampleStartRecord } from '../records/records.ts'
import type { ZipWriterOptions } from '../zip/zip-writer.ts'

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

export interface Marks {
  /** uuids of the records that others take the place of. */
  readonly superseded: ReadonlySet<string>
  /** uuids of those that count in no figure. */
  readonly outside: ReadonlySet<string>
}

/** Makes a log of the lines of a journal, as they come. */
export class JournalConversion {
  readonly #path: string
  readonly #target: string
  readonly #writing: ZipWriterOptions
  readonly #events: JournalEvents
  readonly #started = new Map<string, SampleStartRecord>()
  marks: Marks = { superseded: new Set(), outside: new Set() }
  #writer: EvalWriter | undefined
  #footer: FooterRecord | undefined
  #damaged = 0
  #lastMs = 0

  constructor(
    { path, file, target }: { path: string; file: FileHandle; target: string },
    writing: ZipWriterOptions = {},
  ) {
    this.#path = path
    this.#target = target
    this.#writing = writing
    this.#events = new JournalEvents(file, path)
  }

  /** Whether there is a file. */
  get hasBegun(): boolean {
    return this.#writer !== undefined
  }

  countDamaged(): void {
    this.#damaged++
  }

  /** Resolves, where it has to be waited for, when the line has been taken into account. */
  take(sound: SoundLine): Promise<void> | undefined {
    const { line, eventUuid } = sound
    if (eventUuid !== undefined) return void this.#events.note(eventUuid, line)
    const where = `${this.#path}:${line.number}`
    const read = parseLine(sound.json)
    if (isSampleLine(read)) return this.#takeSample(read, where)
    const record = checkedRecord(read, where)
    if (record.type === 'event') this.#events.note(record.uuid, line)
    return record.type === 'event' || record.type === 'sample' ? undefined : this.#takeRecord(record)
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

  /** Makes what a live log has so far readable. */
  async publish(): Promise<void> {
    await this.#writer?.publish()
  }

  async abandon(): Promise<void> {
    await this.#writer?.abandon()
  }

  #takeRecord(record: Exclude<LogRecord, { type: 'event' | 'sample' }>): Promise<void> | undefined {
    switch (record.type) {
      case 'header':
        return this.#begin(record)
      case 'sample-start':
        this.#started.set(record.uuid, record)
        return undefined
      case 'footer':
        this.#footer = record
        return undefined
      case 'sample-outside':
        this.#checkChangeable()
        return void this.#startedWriter().addOther(record)
      default:
        return void this.#startedWriter().addOther(record)
    }
  }

  async #begin(header: HeaderRecord): Promise<void> {
    this.#lastMs = Date.parse(header.createdAt)
    this.#writer = await EvalWriter.create(this.#target, header, this.#writing)
  }

  async #takeSample(line: unknown, where: string): Promise<void> {
    const own = await this.#events.take(uuidOf(line))
    const record = checkedRecord(own.told.sample(line), where)
    if (record.type !== 'sample') return
    const events: TranscriptEvent[] = []
    for (const { uuid } of record.earlier ?? []) {
      this.#started.delete(uuid)
      events.push(...(await this.#events.take(uuid)).events)
    }
    this.#started.delete(record.uuid)
    events.push(...own.events)
    this.#lastMs = Math.max(this.#lastMs, Date.parse(record.completedAt))
    const writer = this.#startedWriter()
    if (record.supersedes !== undefined) this.#checkChangeable()
    const { superseded, outside } = this.marks
    if (superseded.has(record.uuid)) await writer.addSuperseded(record, events)
    else await writer.addSample(record, events, { counts: !outside.has(record.uuid) })
  }

  /** A live log cannot take back what it has said of a sample. */
  #checkChangeable(): void {
    if (this.#writing.live) throw new ConfigError('what is written is outdated', { where: this.#target })
  }

  async #cancelStarted(writer: EvalWriter): Promise<number> {
    for (const start of this.#started.values()) {
      const { events } = await this.#events.take(start.uuid)
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

function isSampleLine(line: unknown): boolean {
  return (line as { type?: unknown } | null)?.type === 'sample'
}
