import type {
  ConfigRecord,
  FooterRecord,
  HeaderRecord,
  SampleRecord,
  SamplesAddedRecord,
} from '../records/records.ts'

/** The last outcome of one epoch of a sample in a log that is resumed. */
export interface PriorSample {
  readonly id: SampleRecord['id']
  readonly epoch: number
  readonly uuid: string
  readonly status: SampleRecord['status']
  /** Place in the log, counted from 0. */
  readonly order: number
  /** Of its sandbox's configuration. */
  readonly sandboxKey: string | undefined
  /** Whole but for messages and output where it is no success: it may be run again. */
  readonly failure: SampleRecord | undefined
}

export interface PriorState {
  readonly state: unknown
  /** uuids of the records that it knows of. */
  readonly told: ReadonlySet<string>
}

/** What is known of a log that is resumed; it stays open, as records are read when they are needed. */
export interface PriorLog extends AsyncDisposable {
  readonly path: string
  /** undefined: it cannot be read, for the reason in `problem`. */
  readonly header: HeaderRecord | undefined
  readonly problem?: string | undefined
  /** undefined: the eval did not come to its end. */
  readonly footer: FooterRecord | undefined
  /** By `sampleKey`. */
  readonly samples: ReadonlyMap<string, PriorSample>
  /** Configurations that were ready, by key. */
  readonly configs: ReadonlyMap<string, ConfigRecord>
  /** The last that a source saved. */
  readonly state: PriorState | undefined
  /** Without those that came after the last state and that its source makes again. */
  readonly added: readonly SamplesAddedRecord[]
  /** What a reader should know, such as damaged lines. */
  readonly warnings: readonly string[]
  load(sample: PriorSample): Promise<SampleRecord>
  /** Lines with which a log begins that goes on from this one: all records, with their events. */
  lines(options: { readonly withState: boolean }): AsyncGenerator<Buffer>
}

export function sampleKey({
  id,
  epoch,
}: {
  readonly id: SampleRecord['id']
  readonly epoch: number
}): string {
  return `${epoch} ${id}`
}
