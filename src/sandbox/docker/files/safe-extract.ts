import { constants } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, open, rm, symlink } from 'node:fs/promises'
import { dirname, join, posix, resolve, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { extract, type Header } from 'tar-stream'
import { BelljarError } from '../../../errors.ts'

/** An archive from a sandbox held what must not come onto the host; what was harmless in it has been extracted. */
export class RefusedEntriesError extends BelljarError {
  readonly tooLarge: boolean

  constructor(message: string, tooLarge: boolean) {
    super('refused-entries', message)
    this.tooLarge = tooLarge
  }
}

interface Extraction {
  readonly folder: string
  readonly refused: string[]
  /** Made last, so that nothing is ever written through a link of the archive. */
  readonly links: { readonly path: string; readonly target: string }[]
  readonly folderModes: Map<string, number>
  bytesLeft: number
  entriesLeft: number
}

type ArchiveEntry = Readable & { readonly header: Header }

const PERMISSIONS = 0o777

/** The name inside the folder; undefined for the folder itself and for names that lead out of it. */
function safeName(name: string): string | undefined {
  if (name.startsWith('/') || name.includes('\0') || name.split('/').includes('..')) return undefined
  return posix.normalize(name).replace(/\/$/, '')
}

function inside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** Makes the parents; a link or file among them is refused. */
async function safeParents(extraction: Extraction, path: string): Promise<boolean> {
  const parents: string[] = []
  for (let at = dirname(path); at !== extraction.folder; at = dirname(at)) parents.unshift(at)
  for (const parent of parents) {
    const facts = await lstat(parent).catch(() => undefined)
    if (!facts) await mkdir(parent)
    else if (!facts.isDirectory()) return false
  }
  return true
}

async function writeEntry(entry: ArchiveEntry, path: string, mode: number): Promise<void> {
  await rm(path, { force: true })
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const file = await open(path, flags, mode & PERMISSIONS)
  try {
    for await (const chunk of entry) await file.writeFile(chunk as Buffer)
    await file.chmod(mode & PERMISSIONS)
  } finally {
    await file.close()
  }
}

async function takeHardLink(extraction: Extraction, path: string, header: Header): Promise<void> {
  const name = safeName(header.linkname ?? '')
  const source = name ? join(extraction.folder, name) : undefined
  const safe = source && (await safeParents(extraction, source))
  const facts = safe ? await lstat(source).catch(() => undefined) : undefined
  if (!source || !facts?.isFile()) {
    extraction.refused.push(header.name)
    return
  }
  spend(extraction, facts.size)
  await rm(path, { force: true })
  await copyFile(source, path, constants.COPYFILE_EXCL)
}

function spend(extraction: Extraction, bytes: number): void {
  extraction.bytesLeft -= bytes
  if (extraction.bytesLeft < 0) throw new RefusedEntriesError('over the size that a download may have', true)
}

async function takeEntry(extraction: Extraction, entry: ArchiveEntry): Promise<void> {
  const { header } = entry
  if (--extraction.entriesLeft < 0)
    throw new RefusedEntriesError('more entries than a download may have', true)
  const name = safeName(header.name)
  if (name === '.' || name === '') return
  const path = name === undefined ? undefined : join(extraction.folder, name)
  if (path === undefined || !(await safeParents(extraction, path))) {
    extraction.refused.push(header.name)
    return
  }
  if (header.type === 'directory') return takeFolder(extraction, path, header)
  if ((await kindAt(path)) === 'directory') extraction.refused.push(header.name)
  else if (header.type === 'symlink') extraction.links.push({ path, target: header.linkname ?? '' })
  else if (header.type === 'link') await takeHardLink(extraction, path, header)
  else if (header.type === 'file' || header.type === 'contiguous-file') {
    spend(extraction, header.size ?? 0)
    await writeEntry(entry, path, header.mode ?? 0o644)
  } else extraction.refused.push(header.name)
}

async function kindAt(path: string): Promise<'directory' | 'other' | undefined> {
  const facts = await lstat(path).catch(() => undefined)
  return facts && (facts.isDirectory() ? 'directory' : 'other')
}

async function takeFolder(extraction: Extraction, path: string, header: Header): Promise<void> {
  const existing = await kindAt(path)
  if (existing === 'other') await rm(path)
  if (existing !== 'directory') await mkdir(path)
  extraction.folderModes.set(path, (header.mode ?? 0o755) & PERMISSIONS)
}

/** Links that stay inside are made; others would name files of the host. */
async function makeLinks(extraction: Extraction): Promise<void> {
  for (const { path, target } of extraction.links) {
    const isSafe =
      target !== '' && !target.startsWith('/') && inside(extraction.folder, resolve(dirname(path), target))
    if (!isSafe || !(await safeParents(extraction, path))) {
      extraction.refused.push(path.slice(extraction.folder.length + 1))
      continue
    }
    await rm(path, { force: true })
    await symlink(target, path)
  }
}

/**
 * Unpacks an archive that nobody vouches for. Nothing is written outside the folder: no `..`, no absolute name,
 * no way through a link, no device, no owner, no set-user-id bit; sizes are counted before bytes are written.
 * @throws RefusedEntriesError after the harmless rest has been extracted
 */
export async function extractSafely(
  source: Readable,
  options: { folder: string; maxBytes: number; maxEntries: number },
): Promise<void> {
  const folder = resolve(options.folder)
  await mkdir(folder, { recursive: true })
  const extraction: Extraction = {
    folder,
    refused: [],
    links: [],
    folderModes: new Map(),
    bytesLeft: options.maxBytes,
    entriesLeft: options.maxEntries,
  }
  const entries = source.pipe(extract())
  source.once('error', (error) => entries.destroy(error))
  for await (const entry of entries) {
    await takeEntry(extraction, entry as unknown as ArchiveEntry)
    entry.resume()
  }
  await makeLinks(extraction)
  for (const [path, mode] of [...extraction.folderModes].reverse()) await chmod(path, mode | 0o700)
  if (extraction.refused.length > 0) {
    const names = extraction.refused.slice(0, 5).map((name) => JSON.stringify(name))
    throw new RefusedEntriesError(
      `not extracted, as they are no files or folders inside the target: ${names.join(', ')}${extraction.refused.length > 5 ? ` and ${extraction.refused.length - 5} more` : ''}`,
      false,
    )
  }
}
