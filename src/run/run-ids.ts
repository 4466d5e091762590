import { randomBytes } from 'node:crypto'

export function newRunId(): string {
  return randomBytes(6).toString('hex')
}

export function newEvalId(): string {
  return randomBytes(8).toString('hex')
}

/** `<time>_<task>_<id>`, which journal and finished log share; the time as Inspect writes it. No part holds an underscore of its own, and none can leave the folder. */
export function logName(createdAt: string, task: string, evalId: string): string {
  const time = createdAt.replace(/(\.\d+)?Z$/, '+00:00').replaceAll(/[:+]/g, '-')
  const name = task
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '')
    .slice(0, 80)
  return `${time}_${name || 'task'}_${evalId}`
}
