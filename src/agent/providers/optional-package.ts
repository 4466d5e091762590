import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigError } from '../../errors.ts'

export interface OptionalPackage {
  readonly name: string
  /** As for `npm install`. */
  readonly version: string
  /** Who needs it, for the error. */
  readonly where: string
}

/** A package that is installed only by those who use it: beside belljar, or in the current directory's project. @throws ConfigError that says how to install it */
export async function importOptional<T>({ name, version, where }: OptionalPackage): Promise<T> {
  try {
    return (await import(name)) as T
  } catch (error) {
    if (!isMissing(error, name)) throw error
  }
  try {
    const path = createRequire(join(process.cwd(), 'package.json')).resolve(name)
    return (await import(pathToFileURL(path).href)) as T
  } catch (error) {
    if (!isMissing(error, name)) throw error
    throw new ConfigError(
      `needs the package ${name}, which is not installed: npm install ${name}@${version}`,
      {
        where,
        cause: error,
      },
    )
  }
}

/** Something that the package itself needs may be missing too, which is another error. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && message.includes(`'${name}'`)
}
