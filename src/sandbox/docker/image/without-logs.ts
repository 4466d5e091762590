import type { ContextEntry } from './build-context.ts'

/** `<time>_<task>_<id>` as belljar names logs, what is written beside them, and what it is called while it is made. */
const LOG = /^\.?\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-00-00_[^_/]+_[0-9a-f]{16}\./

/**
 * What belljar itself writes while a task runs is no part of a build context: the logs may well be in the task's folder,
 * and each run would build anew. With them go folders that hold nothing else.
 */
export function withoutLogs(entries: readonly ContextEntry[]): ContextEntry[] {
  const isLog = ({ path }: ContextEntry) => path.split('/').some((name) => LOG.test(name))
  const rest = entries.filter((entry) => !isLog(entry))
  if (rest.length === entries.length) return rest
  const emptied = new Set(entries.filter(isLog).flatMap(({ path }) => ancestors(path)))
  const own = rest.filter(({ path }) => !emptied.has(path))
  const kept = new Set(own.flatMap(({ path }) => ancestors(path)))
  return rest.filter(({ path }) => !emptied.has(path) || kept.has(path))
}

function ancestors(path: string): string[] {
  const names = path.split('/')
  return names.slice(0, -1).map((_name, index) => names.slice(0, index + 1).join('/'))
}
