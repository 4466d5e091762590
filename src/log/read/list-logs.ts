import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, errorMessage } from '../../errors.ts'
import { EvalFile } from '../eval/file/eval-file.ts'
import { LogLock } from '../journal/log-lock.ts'
import { readJournal } from '../journal/read-journal.ts'
import { isFinishedPath, isJournalPath, journalPathOf } from '../log-paths.ts'
import type { FooterRecord, HeaderRecord } from '../records/records.ts'

/** `running`: a process writes it; `unfinished`: none does any more; `unreadable`: no log, or a damaged one. */
export type ListedStatus = FooterRecord['status'] | 'running' | 'unfinished' | 'unreadable'

export interface ListedLog {
  readonly path: string
  readonly status: ListedStatus
  readonly header?: HeaderRecord
  readonly footer?: FooterRecord
  /** Why it could not be read. */
  readonly problem?: string
}

/** The logs of a folder by name, which is by time. Reads no more than their headers. @throws ConfigError when the folder cannot be read */
export async function listLogs(directory: string): Promise<ListedLog[]> {
  let names: string[]
  try {
    names = await readdir(directory)
  } catch (error) {
    throw new ConfigError(`cannot list logs: ${errorMessage(error)}`, { where: directory, cause: error })
  }
  const journals = new Set(names.filter(isJournalPath))
  // What stands beside a journal is a snapshot of the same log.
  const finished = names.filter((name) => isFinishedPath(name) && !journals.has(journalPathOf(name)))
  const paths = [...finished, ...journals].sort()
  const logs: ListedLog[] = []
  for (const name of paths) logs.push(await listed(join(directory, name)))
  return logs
}

async function listed(path: string): Promise<ListedLog> {
  try {
    return isJournalPath(path) ? await listedJournal(path) : await listedFile(path)
  } catch (error) {
    return { path, status: 'unreadable', problem: errorMessage(error) }
  }
}

async function listedFile(path: string): Promise<ListedLog> {
  await using file = await EvalFile.open(path)
  const [header, footer] = [await file.header(), await file.footer()]
  return { path, status: footer?.status ?? 'unfinished', header, footer }
}

async function listedJournal(path: string): Promise<ListedLog> {
  const status = (await LogLock.isHeld(path)) ? 'running' : 'unfinished'
  for await (const record of readJournal(path)) {
    if (record.type === 'header') return { path, status, header: record }
    break
  }
  return { path, status, problem: 'the log has no header' }
}
