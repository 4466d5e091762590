import { randomBytes } from 'node:crypto'

export function newRunId(): string {
  return randomBytes(6).toString('hex')
}

export function newEvalId(): string {
  return randomBytes(8).toString('hex')
}

/** `<time>_<task>_<id>.jsonl`: no part holds an underscore of its own, and none can leave the folder. */
export function logFileName(createdAt: string, task: string, evalId: string): string {
  const time = createdAt.replace(/\.\d+Z$/, 'Z').replaceAll(':', '-')
  const name = task
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '')
    .slice(0, 80)
  return `${time}_${name || 'task'}_${evalId}.jsonl`
}
