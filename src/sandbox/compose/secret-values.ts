import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { SecretValue } from '../../util/secret-mask.ts'
import type { ComposeProject } from './map/index.ts'

const MAX_BYTES = 65_536

/** The values of the secrets that a project declares, as far as they can be read; larger files are not looked at. */
export async function secretValues(
  { secrets = {} }: Pick<ComposeProject, 'secrets'>,
  context: { readonly environment: Readonly<Record<string, string>>; readonly directory: string },
): Promise<SecretValue[]> {
  const values = Object.entries(secrets).map(async ([name, source]): Promise<SecretValue[]> => {
    const value =
      source.file === undefined
        ? (source.content ?? context.environment[source.environment ?? ''])
        : await fileText(resolve(context.directory, source.file)).catch(() => undefined)
    return value === undefined || value.trim().length < SHORTEST ? [] : [{ name, value }]
  })
  return (await Promise.all(values)).flat()
}

/** A shorter one would be found everywhere. */
const SHORTEST = 4

async function fileText(path: string): Promise<string | undefined> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    return size <= MAX_BYTES ? await file.readFile('utf8') : undefined
  } finally {
    await file.close()
  }
}
