import { basename } from 'node:path'
import { ConfigError } from '../../../errors.ts'
import { isJournalPath } from '../../../log/log-paths.ts'
import type { ListedLog } from '../../../log/read/list-logs.ts'
import type { HeaderRecord } from '../../../log/records/records.ts'
import { escapeLine } from '../../../util/terminal.ts'
import { describeTask, identityOfLog, type SetTask, taskFinder } from './set-task.ts'

/** A log whose header can be read. */
export type KnownLog = ListedLog & { readonly header: HeaderRecord }

export interface SortedLogs {
  /** By key of the task that they are of, last the one to go on from. */
  readonly byKey: ReadonlyMap<string, readonly KnownLog[]>
  /** Of no task of the set, or unreadable. */
  readonly foreign: readonly ListedLog[]
  /** Journals of runs that were killed before their header was whole. */
  readonly empty: readonly ListedLog[]
}

/** What the logs of a folder are to a set. */
export function sortLogs(logs: readonly ListedLog[], tasks: readonly SetTask[]): SortedLogs {
  const byKey = new Map<string, KnownLog[]>()
  const foreign: ListedLog[] = []
  const empty: ListedLog[] = []
  const taskOf = taskFinder(tasks)
  for (const log of logs) {
    const task = isKnown(log) ? taskOf(log.header) : undefined
    if (isKnown(log) && task) byKey.set(task.key, [...(byKey.get(task.key) ?? []), log])
    else if (!log.header && isJournalPath(log.path)) empty.push(log)
    else foreign.push(log)
  }
  for (const [key, known] of byKey) byKey.set(key, inOrder(known))
  return { byKey, foreign, empty }
}

/** Logs that another one goes on from: all that is in them is in that one too. */
export function supersededBy(log: KnownLog, others: readonly KnownLog[]): KnownLog[] {
  const evals = new Set(log.header.lineage?.map((link) => link.eval))
  return others.filter(({ header }) => evals.has(header.eval))
}

/** @throws ConfigError that names them and says what to do */
export function checkForeign(foreign: readonly ListedLog[], logDir: string): void {
  if (foreign.length === 0) return
  const lines = foreign.map(({ path, header, problem }) => {
    const what = header ? `of ${describeTask(identityOfLog(header))}` : (problem ?? 'it cannot be read')
    return `  ${basename(path)}: ${escapeLine(what, 200)}`
  })
  throw new ConfigError(
    `holds logs that are of no task of the set:\n${lines.join('\n')}\nGive the set a folder of its own, move them away, name their tasks too, or allow them (--allow-foreign-logs, allowForeignLogs: true)`,
    { where: logDir },
  )
}

/** Those that none goes on from last; among them those that ended well, then the newest. */
function inOrder(logs: readonly KnownLog[]): KnownLog[] {
  const superseded = new Set(logs.flatMap((log) => supersededBy(log, logs)))
  const rank = (log: KnownLog) => [
    superseded.has(log) ? 0 : 1,
    log.status === 'success' ? 1 : 0,
    Date.parse(log.header.createdAt),
  ]
  const ranked = logs.map((log) => ({ log, rank: rank(log) }))
  const difference = (one: readonly number[], other: readonly number[]) =>
    one.map((value, place) => value - (other[place] ?? 0)).find((by) => by !== 0) ?? 0
  return ranked.sort((one, other) => difference(one.rank, other.rank)).map(({ log }) => log)
}

function isKnown(log: ListedLog): log is KnownLog {
  return log.header !== undefined
}
