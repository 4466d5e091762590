import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The name in the nearest `package.json` at or above a folder that has one with a name. */
export async function packageOf(directory: string): Promise<string | undefined> {
  for (let folder = directory; ; folder = dirname(folder)) {
    const name = await nameIn(join(folder, 'package.json'))
    if (name !== undefined || dirname(folder) === folder) return name
  }
}

async function nameIn(file: string): Promise<string | undefined> {
  try {
    const { name } = JSON.parse(await readFile(file, 'utf8')) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    return undefined
  }
}
