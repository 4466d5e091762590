import type {
  ConfigRecord,
  FooterRecord,
  HeaderRecord,
  LogRecord,
  SampleRecord,
  SamplesAddedRecord,
} from '../records/records.ts'
import { type PriorSample, type PriorState, sampleKey } from './prior-log.ts'

/** Takes the records of a log in order and keeps what a resume goes by: of each sample no more than its outcome. */
export class PriorIndex {
  header: HeaderRecord | undefined
  footer: FooterRecord | undefined
  readonly samples = new Map<string, PriorSample>()
  readonly configs = new Map<string, ConfigRecord>()
  readonly #added: SamplesAddedRecord[] = []
  readonly #told = new Set<string>()
  #state: { readonly state: unknown } | undefined
  /** How many of the additions the last state knows of. */
  #addedAtState = 0
  #order = 0

  get state(): PriorState | undefined {
    return this.#state && { state: this.#state.state, told: this.#told }
  }

  get added(): SamplesAddedRecord[] {
    return this.#added.filter((record, index) => record.by !== undefined || index < this.#addedAtState)
  }

  take(record: Exclude<LogRecord, { type: 'event' }>): void {
    switch (record.type) {
      case 'header':
        this.header = record
        return
      case 'footer':
        this.footer = record
        return
      case 'config':
        if (!record.error) this.configs.set(record.key, record)
        return
      case 'samples-added':
        this.#added.push(record)
        return
      case 'source-state':
        this.#state = record
        this.#addedAtState = this.#added.length
        for (const uuid of record.told) this.#told.add(uuid)
        return
      case 'sample':
        this.takeSample(record)
    }
  }

  takeSample(record: SampleRecord): PriorSample {
    const { id, epoch, uuid, status, sandbox } = record
    const isDone = status === 'success' || status === 'limit'
    const failure = isDone ? undefined : { ...record, messages: [], output: '' }
    const sample = { id, epoch, uuid, status, order: this.#order++, sandboxKey: sandbox?.key, failure }
    this.samples.set(sampleKey(record), sample)
    return sample
  }
}

export interface KeptOptions {
  readonly added: ReadonlySet<LogRecord>
  /** Whether the source goes on from its state. */
  readonly withState: boolean
}

/** Whether a log that goes on begins with this record, apart from samples and their events. */
export function isKept(record: LogRecord, { added, withState }: KeptOptions): boolean {
  switch (record.type) {
    case 'note':
      return true
    case 'config':
      return !record.error
    case 'source-state':
      return withState
    case 'samples-added':
      return added.has(record) && (withState || record.by !== undefined)
    default:
      return false
  }
}
