import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { ConfigError } from '../../errors.ts'

/**
 * Says that a process writes a log: a file beside it that names the process. One whose process is gone is taken over;
 * one of another host is not, as nobody here can tell.
 */
export class LogLock {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** `what` is written. @throws ConfigError when another writer has it */
  static async acquire(logPath: string, what = 'the log'): Promise<LogLock> {
    const path = `${logPath}.lock`
    if (!(await create(path))) {
      await takeAway(path, { logPath, what })
      if (!(await create(path))) throw taken({ logPath, what }, 'another process')
    }
    return new LogLock(path)
  }

  /** @throws ConfigError when a process that may be alive has it */
  static async check(logPath: string, what = 'the log'): Promise<void> {
    const text = await readFile(`${logPath}.lock`, 'utf8').catch(() => undefined)
    const owner = text === undefined ? undefined : livingOwner(text)
    if (owner !== undefined) throw taken({ logPath, what }, owner)
  }

  /** Whether a process that may be alive writes the log. */
  static async isHeld(logPath: string): Promise<boolean> {
    const text = await readFile(`${logPath}.lock`, 'utf8').catch(() => undefined)
    return text !== undefined && livingOwner(text) !== undefined
  }

  async release(): Promise<void> {
    await rm(this.#path, { force: true })
  }
}

interface Locked {
  readonly logPath: string
  readonly what: string
}

const OWNER = { pid: process.pid, host: hostname(), nonce: randomBytes(4).toString('hex') }

async function create(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx')
    await file.writeFile(JSON.stringify(OWNER)).finally(() => file.close())
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Moves a dead owner's lock aside; when a new one came in between, it is that one's and goes back. */
async function takeAway(path: string, locked: Locked): Promise<void> {
  const seen = await readFile(path, 'utf8').catch(() => undefined)
  if (seen === undefined) return
  const owner = livingOwner(seen)
  if (owner !== undefined) throw taken(locked, owner)
  const aside = `${path}.${randomBytes(4).toString('hex')}`
  await rename(path, aside).catch(() => undefined)
  const moved = await readFile(aside, 'utf8').catch(() => undefined)
  if (moved !== undefined && moved !== seen) await rename(aside, path)
  else await rm(aside, { force: true })
}

function livingOwner(text: string): string | undefined {
  let owner: Partial<typeof OWNER>
  try {
    owner = JSON.parse(text) as Partial<typeof OWNER>
  } catch {
    return undefined
  }
  const { pid, host } = owner
  if (host !== OWNER.host) return `process ${pid} on host ${host}`
  return typeof pid === 'number' && isAlive(pid) ? `process ${pid}` : undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function taken({ logPath, what }: Locked, owner: string): ConfigError {
  return new ConfigError(
    `${what} is being written by ${owner}; wait for its end, or remove ${logPath}.lock if that process is no belljar`,
    { where: logPath },
  )
}
