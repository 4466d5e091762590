import { type FileHandle, open, rm } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { ConfigError } from '../../errors.ts'
import { type ConvertedJournal, JournalConversion } from '../convert/journal-conversion.ts'
import { isSound } from '../journal/journal-line.ts'
import { type JournalLine, LineCutter, newLines } from '../journal/journal-lines.ts'
import { SoundLine } from '../journal/read-journal.ts'
import { finishedPathOf } from '../log-paths.ts'

/** Others get their turn after so much work. */
const SLICE_MS = 20

/**
 * The finished log of a journal while both are written: it follows the journal, and readers can open it whenever it does not grow at
 * that moment. A member is written once and stays where it is. After an error it is of no use any more.
 */
export class LiveLog {
  readonly path: string
  readonly #journal: string
  readonly #file: FileHandle
  readonly #conversion: JournalConversion
  readonly #cutter = new LineCutter()

  private constructor(journal: string, file: FileHandle) {
    this.path = finishedPathOf(journal)
    this.#journal = journal
    this.#file = file
    this.#conversion = new JournalConversion({ path: journal, file, target: this.path }, { live: true })
  }

  static async open(journal: string): Promise<LiveLog> {
    return new LiveLog(journal, await open(journal, 'r'))
  }

  /** Takes what the journal has gained, and makes it readable where that costs little beside it. */
  async advance(): Promise<void> {
    await this.#take()
    await this.#conversion.publish()
  }

  /** Takes the rest and what comes last. @throws ConfigError when the journal has no end */
  async end(): Promise<ConvertedJournal> {
    await this.#take()
    const converted = await this.#conversion.end({ recover: false })
    await this.#file.close()
    return converted
  }

  /** Closes the file, which stays as it was last made readable. */
  async close(): Promise<void> {
    await this.#conversion.abandon()
    await this.#file.close()
  }

  /** Removes the file, if it is one of ours. */
  async discard(): Promise<void> {
    const isOurs = this.#conversion.hasBegun
    await this.close().catch(() => undefined)
    if (isOurs) await rm(this.path, { force: true }).catch(() => undefined)
  }

  async #take(): Promise<void> {
    let sliceStart = performance.now()
    for await (const lines of newLines(this.#journal, this.#cutter)) {
      for (const line of lines) {
        await this.#conversion.take(this.#open(line))
        if (performance.now() - sliceStart < SLICE_MS) continue
        await setImmediate()
        sliceStart = performance.now()
      }
    }
  }

  #open(line: JournalLine): SoundLine {
    if (isSound(line.bytes)) return new SoundLine(line)
    throw new ConfigError('a damaged line', { where: `${this.#journal}:${line.number}` })
  }
}
