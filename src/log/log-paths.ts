import { existsSync } from 'node:fs'

export const JOURNAL_EXTENSION = '.journal.jsonl'
const FINISHED = '.eval'

/** Path of the journal that becomes, or became, a finished log. */
export function journalPathOf(logPath: string): string {
  return withEnd(logPath, FINISHED, JOURNAL_EXTENSION)
}

/** Path of the finished log that a journal becomes. */
export function finishedPathOf(journalPath: string): string {
  return withEnd(journalPath, JOURNAL_EXTENSION, FINISHED)
}

export function isJournalPath(path: string): boolean {
  return path.endsWith(JOURNAL_EXTENSION)
}

export function isFinishedPath(path: string): boolean {
  return path.endsWith(FINISHED)
}

/** Where a log's records are: while there is a journal, a finished log beside it is a snapshot at most. */
export function recordsPathOf(path: string): string {
  if (!isFinishedPath(path)) return path
  const journal = journalPathOf(path)
  return existsSync(journal) ? journal : path
}

function withEnd(path: string, from: string, to: string): string {
  return path.endsWith(from) ? path.slice(0, -from.length) + to : path + to
}
