import { createHash } from 'node:crypto'
import type { SandboxIdentity } from '../../../sample/identity.ts'

const LONGEST_NAME = 63
const HASH_LENGTH = 12

/** Lower-case letters, digits and single dashes of any text. */
function slug(text: string, length: number): string {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
  return plain.slice(0, length).replace(/^-+|-+$/g, '')
}

function shortHash(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, HASH_LENGTH)
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('-')
}

/** Compose's project name of one sandbox: readable, valid, and its own for every identity and every try to start it. */
export function projectName(identity: SandboxIdentity, start = 1): string {
  const { run, eval: evalId, task, sample, epoch, attempt, part } = identity
  const again = [...(part ? [part] : []), ...(start === 1 ? [] : [start])]
  const hash = shortHash([run, evalId, task, sample, epoch, attempt, ...again])
  return joined(['bj', slug(task, 10), slug(sample, 12), `${epoch}`, hash])
}

/** Name of an object within a project: short enough to be a host name, and no two alike. */
export function objectName(project: string, name: string): string {
  const plain = `${project}-${name}`
  if (/^[a-z0-9-]+$/.test(name) && !name.includes('--') && plain.length <= LONGEST_NAME) return plain
  const room = LONGEST_NAME - project.length - HASH_LENGTH - 2
  return joined([project, slug(name, Math.max(0, room)), shortHash([name])])
}
