import { existsSync } from 'node:fs'
import { ConfigError, errorMessage } from '../../errors.ts'
import { LogLock } from '../journal/log-lock.ts'
import { isFinishedPath, isJournalPath, journalPathOf } from '../log-paths.ts'
import { openPriorEval } from './prior-eval.ts'
import { openPriorJournal } from './prior-journal.ts'
import type { PriorLog } from './prior-log.ts'
import { RunExistsError } from './resume-errors.ts'

/**
 * Opens a log to resume it, finished or a journal that a killed run left, and holds it: nobody else writes or resumes it meanwhile.
 * @throws RunExistsError when somebody does; ConfigError when there is no such log
 */
export async function openPriorLog(given: string): Promise<PriorLog> {
  // Beside a journal what has the name of a finished log is no more than a snapshot.
  const journal = isFinishedPath(given) ? journalPathOf(given) : given
  const path = existsSync(journal) ? journal : given
  if (!existsSync(path)) throw new ConfigError('there is no such log', { where: given })
  if (!isFinishedPath(path) && !isJournalPath(path))
    throw new ConfigError('expected a log (.eval) or a journal (.journal.jsonl)', { where: given })
  const lock = await hold(path)
  try {
    const log = isJournalPath(path) ? await openPriorJournal(path) : await readableEval(path)
    const close = log[Symbol.asyncDispose].bind(log)
    let closed: Promise<void> | undefined
    const closeAll = async () => {
      await close()
      await lock?.release()
    }
    const closeOnce = () => {
      closed ??= closeAll()
      return closed
    }
    return Object.assign(log, { [Symbol.asyncDispose]: closeOnce })
  } catch (error) {
    await lock?.release()
    throw error
  }
}

/** A file that is no log, or is cut off, has no header. */
async function readableEval(path: string): Promise<PriorLog> {
  try {
    return await openPriorEval(path)
  } catch (error) {
    return {
      path,
      problem: errorMessage(error),
      header: undefined,
      footer: undefined,
      samples: new Map(),
      configs: new Map(),
      state: undefined,
      added: [],
      warnings: [],
      load: () => Promise.reject(error),
      lines: async function* () {
        yield* []
      },
      [Symbol.asyncDispose]: async () => undefined,
    }
  }
}

/** In a folder that cannot be written nobody writes a log either. */
async function hold(path: string): Promise<LogLock | undefined> {
  try {
    return await LogLock.acquire(path)
  } catch (error) {
    if (error instanceof ConfigError)
      throw new RunExistsError(errorMessage(error).replace(`${path}: `, ''), { log: path, cause: error })
    return undefined
  }
}
