import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LogLock } from '../../../log/journal/log-lock.ts'
import { isJournalPath, journalPathOf } from '../../../log/log-paths.ts'

const PART = /^(.+\.(?:eval|journal\.jsonl))\.part$/
const LOCK = /^(.+\.(?:eval|journal\.jsonl))\.lock$/
const MANIFEST_PART = /^(belljar-set(?:\.\d+-of-\d+)?\.json)\.[0-9a-f]+\.part$/

/**
 * Removes what writers that were killed have left in the folder of a set and that no reader looks at: files that had not got their names yet, and
 * locks of logs that are not there. `own` is the name of the manifest that the caller holds and has not begun to write.
 */
export async function removeDebris(logDir: string, own: string): Promise<void> {
  for (const name of await readdir(logDir)) {
    if (await isDebris(name, { logDir, own })) await rm(join(logDir, name), { force: true })
  }
}

async function isDebris(name: string, { logDir, own }: { logDir: string; own: string }): Promise<boolean> {
  const [, log] = PART.exec(name) ?? []
  if (log !== undefined) {
    const path = join(logDir, log)
    return !(await LogLock.isHeld(isJournalPath(path) ? path : journalPathOf(path)))
  }
  const [, manifest] = MANIFEST_PART.exec(name) ?? []
  if (manifest !== undefined) return manifest === own || !(await LogLock.isHeld(join(logDir, manifest)))
  const [, locked] = LOCK.exec(name) ?? []
  if (locked === undefined || existsSync(join(logDir, locked))) return false
  const text = await readFile(join(logDir, name), 'utf8').catch(() => '')
  return text !== '' && !(await LogLock.isHeld(join(logDir, locked)))
}
