import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, errorMessage } from '../../../errors.ts'
import { LogLock } from '../../../log/journal/log-lock.ts'
import type { SetPart } from '../plan/set-part.ts'
import { manifestName } from './set-manifest.ts'

const LOCK = /^(belljar-set(?:\.(\d+)-of-(\d+))?\.json)\.lock$/
const WHAT = 'the set'

/**
 * Says that a process runs a set in a folder, or a part of it: a file beside the manifest that names the process. Parts of the same division run
 * side by side; anything else would run tasks twice.
 */
export class SetLock implements AsyncDisposable {
  readonly #lock: LogLock

  private constructor(lock: LogLock) {
    this.#lock = lock
  }

  /** @throws ConfigError when another process has it, or when the folder cannot be written */
  static async acquire(logDir: string, part: SetPart | undefined): Promise<SetLock> {
    const path = join(logDir, manifestName(part))
    const lock = await LogLock.acquire(path, WHAT).catch((error: unknown) => {
      if (error instanceof ConfigError) throw error
      throw new ConfigError(`cannot be written: ${errorMessage(error)}`, { where: logDir, cause: error })
    })
    try {
      // Only after its own is there: of two that come at once at least one sees the other.
      await checkOthers(logDir, part)
      return new SetLock(lock)
    } catch (error) {
      await lock.release()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lock.release()
  }
}

async function checkOthers(logDir: string, part: SetPart | undefined): Promise<void> {
  for (const name of await readdir(logDir)) {
    const [, manifest, , of] = LOCK.exec(name) ?? []
    if (manifest === undefined || manifest === manifestName(part)) continue
    const isOtherPart = part !== undefined && of === String(part.of)
    if (isOtherPart) continue
    await LogLock.check(join(logDir, manifest), WHAT)
  }
}
