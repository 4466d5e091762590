import type { TranscriptEvent } from '../../../agent/transcript.ts'
import type { FooterRecord, HeaderRecord, LogRecord, SampleRecord } from '../../records/records.ts'
import { Compressor } from '../../zip/compressor.ts'
import { ZipWriter, type ZipWriterOptions } from '../../zip/zip-writer.ts'
import { toHeader, toStart } from '../header/header.ts'
import { sampleMemberName } from '../ids.ts'
import { EvalReductions } from '../reductions.ts'
import { toSampleMember } from '../sample.ts'
import { toSummary } from '../summary.ts'
import { toMemberJson } from './member-json.ts'
import { memberPieces } from './member-pieces.ts'
import { Utf8Batch } from './utf8-batch.ts'

/** Samples of more bytes are written in pieces of so many. */
const MAX_BATCH = 16_777_216

const SUMMARIES_PER_MEMBER = 1000

/** So many times the bytes of the directory that a live file has must come before it gets another. */
const MIN_GROWTH = 4

/** Member of our own, which Inspect passes over: configurations and notes, in the order in which they came. */
export const RECORDS_MEMBER = '_belljar/records.json'

/**
 * Writes the members of a finished log in the order that Inspect's have. Holds one sample at a time, the summaries in compressed form,
 * and id and scores of each sample.
 */
export class EvalWriter {
  readonly reductions: EvalReductions
  readonly #zip: ZipWriter
  readonly #header: HeaderRecord
  readonly #summaries = new Compressor()
  readonly #others: LogRecord[] = []
  readonly #isLive: boolean
  /** Summaries of samples that readers of a live file do not know yet. */
  #batch: string[] = []
  #batches = 0
  #written = 0

  private constructor(zip: ZipWriter, header: HeaderRecord, isLive: boolean) {
    this.#zip = zip
    this.#header = header
    this.#isLive = isLive
    this.reductions = new EvalReductions(header)
  }

  /** With `live` a new file that readers can open while it is written, from the first `publish` on. */
  static async create(
    path: string,
    header: HeaderRecord,
    { live = false }: ZipWriterOptions = {},
  ): Promise<EvalWriter> {
    const zip = await ZipWriter.create(path, { live })
    await zip.add('_journal/start.json', toMemberJson(toStart(header)))
    return new EvalWriter(zip, header, live)
  }

  /** Makes what there is readable, unless the directory that this takes is too large a part of what it adds. */
  async publish(): Promise<void> {
    const { members, directory } = this.#zip.unpublished
    if (members < directory * MIN_GROWTH) return
    if (this.#batch.length > 0) await this.#endBatch()
    await this.#zip.publish()
  }

  /** A configuration, a note or the like. Of a source's states only the last is kept, with all that they know of. */
  addOther(record: LogRecord): void {
    if (record.type !== 'source-state') return void this.#others.push(record)
    const earlier = this.#others.findLastIndex(({ type }) => type === 'source-state')
    const [before] = earlier === -1 ? [] : this.#others.splice(earlier, 1)
    if (before?.type !== 'source-state') return void this.#others.push(record)
    before.told.push(...record.told)
    this.#others.push({ ...record, told: before.told })
  }

  /** A sample that another takes the place of: only its member is kept, which readers pass over for the later one of the same name. */
  async addSuperseded(record: SampleRecord, events: readonly TranscriptEvent[]): Promise<void> {
    await this.#addMember(record, events)
  }

  /** `counts: false`: it is part of no figure. */
  async addSample(
    record: SampleRecord,
    events: readonly TranscriptEvent[],
    { counts = true }: { counts?: boolean } = {},
  ): Promise<void> {
    const summary = JSON.stringify(toSummary(record))
    await this.#summaries.write(`${this.#written++ === 0 ? '[' : ','}${summary}`)
    if (counts) this.reductions.add(record)
    await this.#addMember(record, events)
    if (this.#isLive) this.#batch.push(summary)
    if (this.#batch.length >= SUMMARIES_PER_MEMBER) await this.#endBatch()
  }

  /** Writes what comes last. Resolves with the number of members when all of it is on the disk. */
  async end(footer: FooterRecord): Promise<number> {
    await this.#summaries.write(this.#written === 0 ? '[]' : ']')
    await this.#zip.addCompressed('summaries.json', await this.#summaries.end())
    const { reductions } = this
    if (this.#header.scorers.length > 0)
      await this.#zip.add('reductions.json', toMemberJson(reductions.member(footer)))
    if (this.#others.length > 0) await this.#zip.add(RECORDS_MEMBER, JSON.stringify(this.#others))
    const header = toHeader({
      header: this.#header,
      footer,
      usage: reductions.usage,
      roleUsage: reductions.roleUsage,
    })
    await this.#zip.add('header.json', toMemberJson(header))
    await this.#zip.end()
    return this.#zip.memberCount
  }

  /** Closes the file, unfinished as it is. */
  async abandon(): Promise<void> {
    await this.#zip.abandon()
  }

  async #addMember(record: SampleRecord, events: readonly TranscriptEvent[]): Promise<void> {
    const name = sampleMemberName(record.id, record.epoch)
    const batch = new Utf8Batch()
    let compressor: Compressor | undefined
    for (const piece of memberPieces(toSampleMember(record, events))) {
      batch.add(piece)
      if (batch.length < MAX_BATCH) continue
      compressor ??= new Compressor()
      await compressor.writeBytes(batch.take())
    }
    if (!compressor) return this.#zip.add(name, batch.take())
    await compressor.writeBytes(batch.take())
    await this.#zip.addCompressed(name, await compressor.end())
  }

  async #endBatch(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    await this.#zip.add(`_journal/summaries/${++this.#batches}.json`, `[${batch.join(',')}]`)
  }
}
