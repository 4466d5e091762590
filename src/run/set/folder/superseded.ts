import { rm } from 'node:fs/promises'
import { errorMessage } from '../../../errors.ts'
import { finishedPathOf, isFinishedPath, journalPathOf, recordsPathOf } from '../../../log/log-paths.ts'
import { openPriorLog } from '../../../log/prior/open-prior-log.ts'
import { ZipFile } from '../../../log/zip/zip-file.ts'

export interface Removal {
  readonly removed: readonly string[]
  /** Why the others stay. */
  readonly kept: readonly { readonly log: string; readonly why: string }[]
}

/**
 * Removes logs that another one goes on from, once it is certain that nothing is lost: that one is finished, all of it can be read back, and
 * whatever the old ones have of samples that ended well is in it.
 */
export async function removeSuperseded(old: readonly string[], by: string): Promise<Removal> {
  const removed: string[] = []
  const kept: Removal['kept'][number][] = []
  if (old.length === 0) return { removed, kept }
  const known = await readBack(by).catch((error: unknown) => errorMessage(error))
  for (const log of old) {
    const why =
      typeof known === 'string'
        ? known
        : await remove(log, known).catch((error: unknown) => errorMessage(error))
    if (why === undefined) removed.push(log)
    else kept.push({ log, why })
  }
  return { removed, kept }
}

async function remove(log: string, known: ReadonlySet<string>): Promise<string | undefined> {
  const missing = (await doneIn(log)).filter((uuid) => !known.has(uuid)).length
  if (missing > 0) return `${missing} of its samples are not in the log that goes on from it`
  await removeFiles(log)
  return undefined
}

/** uuids of the records of samples that ended well. */
async function doneIn(path: string): Promise<string[]> {
  await using log = await openPriorLog(path)
  return [...log.samples.values()].flatMap(({ failure, uuid }) => (failure ? [] : [uuid]))
}

/** Every byte of a finished log. Returns the uuids of its samples. @throws ConfigError when it is not finished, or damaged */
async function readBack(path: string): Promise<Set<string> | string> {
  if (!isFinishedPath(recordsPathOf(path))) return `the log that goes on from it is not finished: ${path}`
  await using zip = await ZipFile.open(path)
  for (const name of zip.names) await zip.verify(name)
  return new Set(await doneIn(path))
}

/** The journal goes last: while there is one, it is what counts. */
async function removeFiles(path: string): Promise<void> {
  const journal = isFinishedPath(path) ? journalPathOf(path) : path
  await rm(finishedPathOf(journal), { force: true })
  await rm(journal, { force: true })
  for (const locked of new Set([path, journal])) await rm(`${locked}.lock`, { force: true })
}
