import { realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'

/** The path with all links resolved, as far as it exists. */
export async function realPath(path: string): Promise<string> {
  const absolute = resolve(path)
  try {
    return await realpath(absolute)
  } catch (error) {
    const parent = dirname(absolute)
    if (parent === absolute) return absolute
    // A link to nothing: whoever creates the target later decides what it holds.
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return absolute
    return join(await realPath(parent), relative(parent, absolute))
  }
}

/** Whether `path` is `folder` or lies below it; both real. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && resolve(way) !== way)
}
