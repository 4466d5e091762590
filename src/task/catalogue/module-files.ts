import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigError, errorMessage } from '../../errors.ts'

const MODULE = /(?<!\.d)\.[cm]?[jt]s$/
const TEST = /\.(?:test|spec|bench)\.[^.]+$/
/** Folders of others, and of what is made. */
const PASSED_OVER = ['node_modules', 'dist', 'build', 'coverage']

/** The modules in a folder and those below it that are a person's own and no tests, in order. @throws ConfigError */
export async function moduleFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((cause: unknown) => {
    throw new ConfigError(`cannot look for tasks: ${errorMessage(cause)}`, { where: directory, cause })
  })
  const files: string[] = []
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(directory, entry.name)
    const isOwn = !entry.name.startsWith('.') && !PASSED_OVER.includes(entry.name)
    if (entry.isDirectory() && isOwn) files.push(...(await moduleFiles(path)))
    else if (entry.isFile() && MODULE.test(entry.name) && !TEST.test(entry.name)) files.push(path)
  }
  return files
}
