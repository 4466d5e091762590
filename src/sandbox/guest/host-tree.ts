import { createWriteStream } from 'node:fs'
import { chmod, lstat, mkdir, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, type Header } from 'tar-stream'

/** An archive holds what must not come onto this host. */
export class UnsafeArchiveError extends Error {
  override readonly name = 'UnsafeArchiveError'
}

/** An archive has more in it than was to be taken. */
export class TooManyEntriesError extends Error {
  override readonly name = 'TooManyEntriesError'
}

export interface ExtractOptions {
  readonly maxEntries: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Puts an archive that a sandbox made into a folder of this host, and nothing outside it: names are taken apart and
 * checked, no link is followed, and links are made last and only where they cannot lead out.
 */
export async function extractToHost(
  data: AsyncIterable<Uint8Array>,
  folder: string,
  { maxEntries, signal }: ExtractOptions,
): Promise<void> {
  const links: Array<{ parts: readonly string[]; target: string }> = []
  const folders: Array<{ path: string; mode: number }> = []
  await mkdir(folder, { recursive: true })
  const archive = extract()
  const fed = pipeline(Readable.from(data, { objectMode: false }), archive, { signal })
  fed.catch(() => undefined)
  let entries = 0
  for await (const entry of archive) {
    if (++entries > maxEntries) throw new TooManyEntriesError(`it has more than ${maxEntries} entries`)
    const parts = safeParts(entry.header.name)
    const mode = (entry.header.mode ?? 0o644) & 0o777
    if (entry.header.type === 'directory') {
      folders.push({ path: await makeFolder(folder, parts), mode })
      entry.resume()
    } else if (entry.header.type === 'symlink') {
      links.push({ parts, target: entry.header.linkname ?? '' })
      entry.resume()
    } else if (isFile(entry.header) && parts.length > 0) {
      const path = await placeFor(folder, parts)
      await pipeline(entry, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal })
      await chmod(path, mode)
    } else {
      throw new UnsafeArchiveError(
        `'${entry.header.name}' is a ${entry.header.type}, expected a file, folder or link`,
      )
    }
  }
  await fed
  for (const link of links) if (staysInside(link.parts, link.target)) await makeLink(folder, link)
  for (const item of folders.reverse()) await chmod(item.path, item.mode)
}

function isFile(header: Header): boolean {
  return header.type === 'file' || header.type === 'contiguous-file'
}

function safeParts(name: string): string[] {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (name.startsWith('/') || name.includes('\0') || parts.includes('..'))
    throw new UnsafeArchiveError(`'${name}' leads out of the folder`)
  return parts
}

/** Leading steps up are counted against the real folders above the link; none may follow a name, which may be a link. */
function staysInside(parts: readonly string[], target: string): boolean {
  const steps = target.split('/').filter((step) => step !== '' && step !== '.')
  const up = steps.findIndex((step) => step !== '..')
  const leading = up < 0 ? steps.length : up
  return (
    target !== '' && !target.startsWith('/') && leading < parts.length && !steps.slice(leading).includes('..')
  )
}

async function makeFolder(root: string, parts: readonly string[]): Promise<string> {
  let path = root
  for (const part of parts) {
    path = join(path, part)
    await mkdir(path, 0o700).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
      if (!(await lstat(path)).isDirectory())
        throw new UnsafeArchiveError(`'${path}' is in the way of a folder`)
    })
  }
  return path
}

async function placeFor(root: string, parts: readonly string[]): Promise<string> {
  const parent = await makeFolder(root, parts.slice(0, -1))
  const path = join(parent, parts.at(-1) ?? '')
  await rm(path, { force: true })
  return path
}

async function makeLink(root: string, link: { parts: readonly string[]; target: string }): Promise<void> {
  await symlink(link.target, await placeFor(root, link.parts))
}

/** Writes one file beside its place and renames it, so that a broken transfer leaves nothing. */
export async function writeToHost(
  data: AsyncIterable<Uint8Array>,
  path: string,
  mode: number,
): Promise<void> {
  const temporary = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`
  await mkdir(dirname(path), { recursive: true })
  try {
    await pipeline(
      Readable.from(data, { objectMode: false }),
      createWriteStream(temporary, { flags: 'wx', mode: 0o600 }),
    )
    await chmod(temporary, mode & 0o777)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
