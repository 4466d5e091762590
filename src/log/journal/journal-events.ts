import type { FileHandle } from 'node:fs/promises'
import type { TranscriptEvent } from '../../agent/transcript.ts'
import { ConfigError } from '../../errors.ts'
import { openJournalLine } from './journal-line.ts'
import type { JournalLine } from './journal-lines.ts'
import { parseRecord } from './read-journal.ts'

interface Place {
  readonly offset: number
  readonly length: number
}

/** What lies closer than this is read in one go. */
const MAX_GAP_BYTES = 65_536

/** Where the events of samples are in a journal: they are read when their sample ends, and are not held before. */
export class JournalEvents {
  readonly #file: FileHandle
  readonly #path: string
  readonly #places = new Map<string, Place[]>()

  constructor(file: FileHandle, path: string) {
    this.#file = file
    this.#path = path
  }

  note(uuid: string, { offset, bytes }: JournalLine): void {
    const places = this.#places.get(uuid)
    const place = { offset, length: bytes.length }
    if (places) places.push(place)
    else this.#places.set(uuid, [place])
  }

  /** The events of a sample, which are then forgotten. */
  async take(uuid: string): Promise<TranscriptEvent[]> {
    const places = this.#places.get(uuid) ?? []
    this.#places.delete(uuid)
    const events: TranscriptEvent[] = []
    for (const group of grouped(places)) events.push(...(await this.#read(group)))
    return events
  }

  async #read(group: readonly Place[]): Promise<TranscriptEvent[]> {
    const start = group[0]?.offset ?? 0
    const last = group.at(-1)
    const bytes = Buffer.allocUnsafe(last ? last.offset + last.length - start : 0)
    await this.#file.read(bytes, 0, bytes.length, start)
    return group.flatMap(({ offset, length }) => {
      const json = openJournalLine(bytes.subarray(offset - start, offset - start + length))
      if (json === undefined)
        throw new ConfigError('the log changed while it was read', { where: this.#path })
      const record = parseRecord(json, this.#path)
      return record.type === 'event' ? [record.event] : []
    })
  }
}

function grouped(places: readonly Place[]): Place[][] {
  const groups: Place[][] = []
  for (const place of places) {
    const last = groups.at(-1)?.at(-1)
    if (last && place.offset - last.offset - last.length <= MAX_GAP_BYTES) groups.at(-1)?.push(place)
    else groups.push([place])
  }
  return groups
}
