import { ConfigError, errorMessage } from '../../../errors.ts'
import { listLogs } from '../../../log/read/list-logs.ts'
import { canonicalHash } from '../../../util/canonical.ts'
import { makeFolder } from '../../../util/make-folder.ts'
import { newEvalId } from '../../run-ids.ts'
import { checkForeign, type SortedLogs, sortLogs } from '../plan/set-logs.ts'
import type { SetTask } from '../plan/set-task.ts'
import type { SetOptions } from '../set-options.ts'
import { removeDebris } from './debris.ts'
import { type ManifestTask, manifestName, readManifest, writeManifest } from './set-manifest.ts'

/** The folder of a set: its manifest, which is written one version after the other, and the logs that were found in it. */
export class SetFolder {
  readonly logDir: string
  /** Id of the set. */
  readonly set: string
  readonly logs: SortedLogs
  readonly #part: SetOptions['part']
  #writing = Promise.resolve()

  private constructor(options: SetOptions, found: { set: string; logs: SortedLogs }) {
    this.logDir = options.logDir
    this.#part = options.part
    this.set = found.set
    this.logs = found.logs
  }

  /** `tasks` are those of the whole set. @throws ConfigError, also for logs of none of them */
  static async open(options: SetOptions, tasks: readonly SetTask[]): Promise<SetFolder> {
    const { logDir, part, allowForeignLogs } = options
    const manifest = await readManifest(logDir, part)
    await removeDebris(logDir, manifestName(part))
    const logs = sortLogs(await listLogs(logDir), tasks)
    if (!allowForeignLogs) checkForeign(logs.foreign, logDir)
    // All parts of a set are one set, wherever they run.
    const ofAll = () => canonicalHash(tasks.map(({ key }) => key).sort()).slice(0, 16)
    return new SetFolder(options, { set: manifest?.set ?? (part ? ofAll() : newEvalId()), logs })
  }

  /** Resolves when it is there. Manifests are written in the order of calls. @throws ConfigError */
  save(tasks: readonly ManifestTask[]): Promise<void> {
    const written = this.#writing.then(() =>
      writeManifest(this.logDir, { set: this.set, part: this.#part, tasks: [...tasks] }),
    )
    this.#writing = written.catch(() => undefined)
    return written
  }
}

/** @throws ConfigError */
export async function makeSetFolder(logDir: string): Promise<void> {
  try {
    await makeFolder(logDir)
  } catch (error) {
    throw new ConfigError(`cannot make the folder: ${errorMessage(error)}`, { where: logDir, cause: error })
  }
}
