import { lstat, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

/** More links than this, as in the kernel, are a loop. */
const MAX_LINKS = 40

function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (status) => status.isSymbolicLink(),
    () => false,
  )
}

/** The path with all links resolved, as far as it exists; a link to nothing is followed too, as its target may come later. */
export async function realPath(path: string, linksLeft = MAX_LINKS): Promise<string> {
  const absolute = resolve(path)
  try {
    return await realpath(absolute)
  } catch {
    const parent = dirname(absolute)
    if (parent === absolute || linksLeft === 0) return absolute
    const realParent = await realPath(parent, linksLeft - 1)
    const inParent = join(realParent, basename(absolute))
    if (!(await isLink(inParent))) return inParent
    return realPath(resolve(realParent, await readlink(inParent)), linksLeft - 1)
  }
}

/** Whether `path` is `folder` or lies below it; both real. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`)
}
