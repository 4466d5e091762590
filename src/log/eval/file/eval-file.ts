import { z } from 'zod'
import type { TranscriptEvent } from '../../../agent/transcript.ts'
import { ConfigError } from '../../../errors.ts'
import { parsePythonJson } from '../../journal/jsonl.ts'
import {
  type FooterRecord,
  type HeaderRecord,
  type LogRecord,
  logRecordSchema,
  type SampleRecord,
} from '../../records/records.ts'
import { ZipFile } from '../../zip/zip-file.ts'
import { ownHeader, readFooter, readHeader } from '../header/read-header.ts'
import { sampleMemberName } from '../ids.ts'
import { eventsOf, fromSampleMember, fromSummary } from '../sample.ts'
import {
  type HeaderMember,
  headerMemberSchema,
  type SampleMember,
  type SummaryEntry,
  sampleMemberSchema,
  startSchema,
  summariesSchema,
} from '../schema/members.ts'
import { RECORDS_MEMBER } from './eval-writer.ts'

export interface SampleWithEvents {
  readonly record: SampleRecord
  readonly events: readonly TranscriptEvent[]
}

const BATCH = /^_journal\/summaries\/(\d+)\.json$/

/** A finished log, ours or one that Inspect wrote; each call reads only the members that it needs. */
export class EvalFile implements AsyncDisposable {
  readonly #zip: ZipFile

  private constructor(zip: ZipFile) {
    this.#zip = zip
  }

  /** @throws ConfigError */
  static async open(path: string): Promise<EvalFile> {
    return new EvalFile(await ZipFile.open(path))
  }

  get sampleMembers(): string[] {
    return this.#zip.names.filter((name) => name.startsWith('samples/'))
  }

  get memberNames(): readonly string[] {
    return this.#zip.names
  }

  /** Text of a member as it is in the file. */
  text(name: string): Promise<string> {
    return this.#zip.text(name)
  }

  has(name: string): boolean {
    return this.#zip.has(name)
  }

  /** The outcome; of a log that is still being written, what was known at its start. */
  async headerMember(): Promise<HeaderMember> {
    if (this.#zip.has('header.json')) return this.#read('header.json', headerMemberSchema)
    const start = await this.#read('_journal/start.json', startSchema)
    return { ...start, status: 'started' }
  }

  /** As it was written at the start; undefined where that was not by belljar, or by one that did not write it there. */
  async startHeader(): Promise<HeaderRecord | undefined> {
    const { belljar } = await this.#read('_journal/start.json', startSchema)
    return ownHeader({ belljar })
  }

  async header(): Promise<HeaderRecord> {
    return readHeader(await this.headerMember())
  }

  /** undefined: the log is still being written. */
  async footer(): Promise<FooterRecord | undefined> {
    const member = await this.headerMember()
    return readFooter(member, () => this.summaries())
  }

  /** All samples, as far as lists show them. */
  async summaries(): Promise<SampleRecord[]> {
    return (await this.summaryEntries()).map(fromSummary)
  }

  async summaryEntries(): Promise<SummaryEntry[]> {
    if (this.#zip.has('summaries.json')) return this.#read('summaries.json', summariesSchema)
    const entries: SummaryEntry[] = []
    for (const name of this.#batches()) entries.push(...(await this.#read(name, summariesSchema)))
    return entries
  }

  /** Configurations and notes. */
  async others(): Promise<LogRecord[]> {
    return this.#zip.has(RECORDS_MEMBER) ? this.#read(RECORDS_MEMBER, z.array(logRecordSchema)) : []
  }

  async sample(id: string | number, epoch: number): Promise<SampleWithEvents> {
    return this.sampleOf(sampleMemberName(id, epoch))
  }

  async sampleOf(name: string): Promise<SampleWithEvents> {
    const member = await this.sampleMember(name)
    return { record: fromSampleMember(member), events: eventsOf(member) }
  }

  sampleMember(name: string): Promise<SampleMember> {
    return this.#read(name, sampleMemberSchema)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#zip[Symbol.asyncDispose]()
  }

  #batches(): string[] {
    const number = (name: string) => Number(BATCH.exec(name)?.[1])
    return this.#zip.names
      .filter((name) => BATCH.test(name))
      .sort((one, other) => number(one) - number(other))
  }

  async #read<T>(name: string, schema: z.ZodType<T>): Promise<T> {
    const where = `${this.#zip.path}:${name}`
    let value: unknown
    try {
      value = parsePythonJson(await this.#zip.text(name))
    } catch (error) {
      if (error instanceof ConfigError) throw error
      throw new ConfigError('not JSON', { where, cause: error })
    }
    const result = schema.safeParse(value)
    if (result.success) return result.data
    const [issue] = result.error.issues
    throw new ConfigError(`${issue?.path.map(String).join('.')}: ${issue?.message}`, { where })
  }
}
