import type { FileHandle } from 'node:fs/promises'
import type { TranscriptEvent } from '../../agent/transcript.ts'
import { ConfigError } from '../../errors.ts'
import { jsonOf, openJournalLine } from './journal-line.ts'
import type { JournalLine } from './journal-lines.ts'
import { checkedRecord, parseLine } from './read-journal.ts'
import { ToldReader } from './told-messages.ts'

interface Place {
  readonly offset: number
  readonly length: number
  /** Its line, where there was room to keep it. */
  readonly kept?: Buffer
}

export interface TakenEvents {
  readonly events: readonly TranscriptEvent[]
  /** Has read them: the line of the sample may come next. */
  readonly told: ToldReader
}

/** What lies closer than this is read in one go, but not much more at once than the second. */
const MAX_GAP_BYTES = 65_536
const MAX_GROUP_BYTES = 1_048_576
const EMPTY = Buffer.alloc(0)

/** Lines of so many bytes are kept, as most are wanted soon. */
const MAX_KEPT_BYTES = 16_777_216
const MAX_LINE_BYTES = 65_536

/** Where the events of samples are in a journal: they are read when their sample ends; before, no more than a bounded number of bytes is held. */
export class JournalEvents {
  readonly #file: FileHandle
  readonly #path: string
  readonly #places = new Map<string, Place[]>()
  #keptBytes = 0

  constructor(file: FileHandle, path: string) {
    this.#file = file
    this.#path = path
  }

  note(uuid: string, { offset, bytes }: JournalLine): void {
    const places = this.#places.get(uuid)
    const isKept = bytes.length <= MAX_LINE_BYTES && this.#keptBytes + bytes.length <= MAX_KEPT_BYTES
    if (isKept) this.#keptBytes += bytes.length
    // A copy, as the line is a part of a much larger piece of the file.
    const place = { offset, length: bytes.length, kept: isKept ? Buffer.from(bytes) : undefined }
    if (places) places.push(place)
    else this.#places.set(uuid, [place])
  }

  /** The events of a sample, which are then forgotten. */
  async take(uuid: string): Promise<TakenEvents> {
    const places = this.#places.get(uuid) ?? []
    this.#places.delete(uuid)
    const events: TranscriptEvent[] = []
    const told = new ToldReader()
    for (const group of grouped(places)) {
      const lines = group.every(({ kept }) => kept) ? undefined : await this.#read(group)
      for (const [index, { kept }] of group.entries()) {
        this.#keptBytes -= kept?.length ?? 0
        // What was kept was sound when it was read.
        const json = kept ? jsonOf(kept) : openJournalLine(lines?.[index] ?? EMPTY)
        events.push(this.#event(json, told))
      }
    }
    return { events, told }
  }

  async #read(group: readonly Place[]): Promise<Buffer[]> {
    const start = group[0]?.offset ?? 0
    const last = group.at(-1)
    const bytes = Buffer.allocUnsafe(last ? last.offset + last.length - start : 0)
    await this.#file.read(bytes, 0, bytes.length, start)
    return group.map(({ offset, length }) => bytes.subarray(offset - start, offset - start + length))
  }

  #event(json: string | undefined, told: ToldReader): TranscriptEvent {
    const record = json === undefined ? undefined : checkedRecord(told.event(parseLine(json)), this.#path)
    if (record?.type === 'event') return record.event
    throw new ConfigError('the log changed while it was read', { where: this.#path })
  }
}

function grouped(places: readonly Place[]): Place[][] {
  const groups: Place[][] = []
  for (const place of places) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    const isNear = last && place.offset - last.offset - last.length <= MAX_GAP_BYTES
    const isSmall = group?.[0] && place.offset - group[0].offset <= MAX_GROUP_BYTES
    if (group && isNear && isSmall && !last.kept === !place.kept) group.push(place)
    else groups.push([place])
  }
  return groups
}
