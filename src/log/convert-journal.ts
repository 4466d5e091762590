import { open } from 'node:fs/promises'
import { journalLines } from './journal/journal-lines.ts'
import { soundLines } from './journal/read-journal.ts'
import { type ConvertedJournal, type ConvertJournalOptions, JournalConversion } from './journal-conversion.ts'

/** Writes the finished log of a journal. @throws ConfigError when the journal has no end and is not to be recovered */
export async function convertJournal(
  journalPath: string,
  target: string,
  options: ConvertJournalOptions,
): Promise<ConvertedJournal> {
  const file = await open(journalPath, 'r')
  const conversion = new JournalConversion({ path: journalPath, file, target })
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
