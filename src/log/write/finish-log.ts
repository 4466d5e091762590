import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BelljarError, errorMessage } from '../../errors.ts'
import { convertJournal } from '../convert/convert-journal.ts'
import type { ConvertedJournal, ConvertJournalOptions } from '../convert/journal-conversion.ts'
import { headerMemberSchema } from '../eval/schema/members.ts'
import { parsePythonJson } from '../journal/jsonl.ts'
import { LogLock } from '../journal/log-lock.ts'
import type { LiveLog } from '../live/live-log.ts'
import { finishedPathOf } from '../log-paths.ts'
import { ZipFile } from '../zip/zip-file.ts'

export interface FinishedLog extends ConvertedJournal {
  readonly path: string
  /** A journal with damaged lines is kept, under this name. */
  readonly keptJournal?: string
}

export interface FinishLogOptions extends ConvertJournalOptions {
  /** Holds a part of the journal already: only the rest is converted. */
  readonly live?: LiveLog
}

/**
 * Makes the finished log of a journal beside it and removes the journal, but not before the log was read back whole.
 * While there is a journal, it is what counts.
 * @throws BelljarError; the journal then is as it was
 */
export async function finishLog(
  journalPath: string,
  options: FinishLogOptions = { recover: false },
): Promise<FinishedLog> {
  const lock = await LogLock.acquire(journalPath)
  const path = finishedPathOf(journalPath)
  try {
    const converted = (await completed(options.live)) ?? (await madeAnew(journalPath, path, options))
    await syncFolder(dirname(path))
    const keptJournal = await retireJournal(journalPath, converted)
    return { ...converted, path, keptJournal }
  } catch (error) {
    if (error instanceof BelljarError) throw error
    throw new BelljarError('log-not-finished', `cannot write ${path}: ${errorMessage(error)}`, {
      cause: error,
    })
  } finally {
    await lock.release()
  }
}

/** What is wrong with a live log is no loss: all of it can be made anew. */
async function completed(live: LiveLog | undefined): Promise<ConvertedJournal | undefined> {
  if (!live) return undefined
  try {
    const converted = await live.end()
    await verifyLog(live.path, converted.members)
    return converted
  } catch {
    await live.discard()
    return undefined
  }
}

async function madeAnew(
  journalPath: string,
  path: string,
  options: ConvertJournalOptions,
): Promise<ConvertedJournal> {
  const part = `${path}.part`
  try {
    const converted = await convertJournal(journalPath, part, options)
    await verifyLog(part, converted.members)
    await rename(part, path)
    return converted
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Reads every member back. @throws ConfigError at the first that is wrong */
async function verifyLog(path: string, members: number): Promise<void> {
  await using zip = await ZipFile.open(path)
  const { names, memberCount } = zip
  if (memberCount !== members)
    throw new BelljarError('log-damaged', `${path} has ${memberCount} members, expected ${members}`)
  for (const name of names) await zip.verify(name)
  headerMemberSchema.parse(parsePythonJson(await zip.text('header.json')))
}

async function retireJournal(path: string, { damagedLines }: ConvertedJournal): Promise<string | undefined> {
  if (damagedLines === 0) {
    await rm(path)
    return undefined
  }
  const kept = `${path}.damaged`
  await rename(path, kept)
  return kept
}

/** So that the new name outlives a crash of the machine; not every file system can. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => undefined)
  await folder?.close()
}
