import { open } from 'node:fs/promises'
import { journalLines } from '../journal/journal-lines.ts'
import { soundLines } from '../journal/read-journal.ts'
import {
  type ConvertedJournal,
  type ConvertJournalOptions,
  JournalConversion,
  type Marks,
} from './journal-conversion.ts'

/** Writes the finished log of a journal. @throws ConfigError when the journal has no end and is not to be recovered */
export async function convertJournal(
  journalPath: string,
  target: string,
  options: ConvertJournalOptions,
): Promise<ConvertedJournal> {
  const file = await open(journalPath, 'r')
  const conversion = new JournalConversion({ path: journalPath, file, target })
  try {
    conversion.marks = await marksIn(journalPath)
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

const SUPERSEDES = Buffer.from('"supersedes":"')
const SAMPLE = Buffer.from('{"type":"sample"')
const OUTSIDE = Buffer.from('{"type":"sample-outside"')

/** Known before the conversion begins, as what is written is not taken back. */
async function marksIn(path: string): Promise<Marks> {
  const marks = { superseded: new Set<string>(), outside: new Set<string>() }
  for await (const lines of journalLines(path)) {
    for (const { bytes } of lines) {
      const isOutside = beginsWith(bytes, OUTSIDE)
      if (!isOutside && !(beginsWith(bytes, SAMPLE) && bytes.includes(SUPERSEDES))) continue
      const record = parsed(bytes)
      if (isOutside && typeof record.uuid === 'string') marks.outside.add(record.uuid)
      if (typeof record.supersedes === 'string') marks.superseded.add(record.supersedes)
    }
  }
  return marks
}

function beginsWith(line: Buffer, begin: Buffer): boolean {
  return line.compare(begin, 0, begin.length, 0, Math.min(begin.length, line.length)) === 0
}

/** A damaged line marks nothing. */
function parsed(bytes: Buffer): { uuid?: unknown; supersedes?: unknown } {
  try {
    return JSON.parse(bytes.toString('utf8')) as { uuid?: unknown; supersedes?: unknown }
  } catch {
    return {}
  }
}
