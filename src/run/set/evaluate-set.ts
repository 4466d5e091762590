import { declaredSecrets, environmentSecrets } from '../../task/secrets.ts'
import { SecretMask } from '../../util/secret-mask.ts'
import { checkOptions } from '../check-options.ts'
import { EvalSet, setTasks } from './eval-set.ts'
import { makeSetFolder } from './folder/set-folder.ts'
import { SetLock } from './folder/set-lock.ts'
import { checkSetOptions, type SetOptions, type SetResult, type SetTasks } from './set-options.ts'

/**
 * Runs tasks until each of them, with each model, has a complete log in a folder: what is there is gone on from, what fails and may pass is tried
 * again, and a log that another holds whole is removed.
 * @throws ConfigError before anything is started; ResumeConfigError and others where a log in the folder cannot be gone on from
 */
export async function evaluateSet(tasks: SetTasks, options: SetOptions): Promise<SetResult> {
  checkOptions(options)
  checkSetOptions(options)
  const secrets = new SecretMask()
  secrets.add(declaredSecrets(options.secrets ?? [], process.env))
  secrets.add(environmentSecrets(process.env))
  try {
    const all = await setTasks(tasks, options, secrets)
    await makeSetFolder(options.logDir)
    await using _lock = await SetLock.acquire(options.logDir, options.part)
    const set = await EvalSet.open({ tasks, all, secrets }, options)
    return await set.run()
  } catch (error) {
    secrets.error(error)
    throw error
  }
}
