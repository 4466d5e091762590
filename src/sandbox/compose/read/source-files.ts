import { lstat, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { ConfigError, errorMessage } from '../../../errors.ts'
import { composeInterpolate } from './interpolate.ts'
import { isRemote, type NamedPath, namedPaths } from './named-paths.ts'

/** A file of the host that a compose file makes Compose (or, for seccomp profiles, belljar) read. */
export interface HostFile {
  /** The compose file that names it. */
  readonly file: string
  readonly place: string
  readonly kind: NamedPath['kind'] | '.env'
  /** Absolute, links not resolved; the address where `remote`. */
  readonly path: string
  readonly remote: boolean
}

export interface SourceFiles {
  /** Text of every file read, by absolute path: compose files and what they name; undefined where it cannot be read. */
  readonly texts: ReadonlyMap<string, string | undefined>
  readonly composeFiles: readonly { readonly path: string; readonly documents: readonly unknown[] }[]
  readonly hostFiles: readonly HostFile[]
  /** Why a compose file could not be read here, so that what it names is not known. */
  readonly unparsed?: ConfigError
}

export interface ScanOptions {
  /** The project's folder, where relative paths of the first file start. */
  readonly directory: string
  /** Which paths may be opened at all. */
  readonly mayRead: (path: string) => Promise<boolean>
  readonly variables: (texts: Iterable<string>) => Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

interface Visit {
  readonly path: string
  /** Where its relative paths start. */
  readonly directory: string
  readonly envFiles?: readonly string[]
}

interface Scan {
  readonly texts: Map<string, string | undefined>
  readonly composeFiles: { path: string; documents: unknown[] }[]
  readonly hostFiles: HostFile[]
  readonly visited: Set<string>
  readonly directory: string
  readonly options: ScanOptions
  unparsed?: ConfigError
}

const MAX_FILE_BYTES = 16 * 1024 * 1024

async function readOnce(scan: Scan, path: string): Promise<string | undefined> {
  if (!scan.texts.has(path)) scan.texts.set(path, await readAllowed(scan, path))
  return scan.texts.get(path)
}

/** Undefined where it is missing or must not be read. @throws ConfigError for what would hang or burden whoever reads it */
async function readAllowed(scan: Scan, path: string): Promise<string | undefined> {
  if (!(await scan.options.mayRead(path))) return undefined
  const status = await stat(path).catch(() => undefined)
  if (status === undefined) return undefined
  if (!status.isFile() || status.size > MAX_FILE_BYTES) {
    throw new ConfigError(`expected a file of at most ${MAX_FILE_BYTES / 1024 ** 2} MiB`, { where: path })
  }
  return readFile(path, 'utf8')
}

function parseDocuments(scan: Scan, path: string, text: string): unknown[] {
  try {
    return parseAllDocuments(text, { merge: true, logLevel: 'silent' }).map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0]
      return document.toJS() as unknown
    })
  } catch (cause) {
    scan.unparsed ??= new ConfigError(`not readable as YAML: ${errorMessage(cause)}`, { where: path, cause })
    return []
  }
}

/** Where a path of the file was refused, its folder is not given to Compose either: paths then stay as written. */
async function interpolated(scan: Scan, visit: Visit, texts: readonly string[]): Promise<readonly string[]> {
  const dotEnv = join(visit.directory, '.env')
  const readable = await Promise.all([dotEnv, ...(visit.envFiles ?? [])].map(scan.options.mayRead))
  if (readable.includes(false)) return texts
  return composeInterpolate(texts, {
    directory: visit.directory,
    envFiles: visit.envFiles,
    variables: scan.options.variables(present(scan.texts)),
    signal: scan.options.signal,
  })
}

async function interpolatedPaths(scan: Scan, visit: Visit, documents: unknown[]): Promise<NamedPath[]> {
  const named = documents.flatMap(namedPaths)
  const flat = named.flatMap((entry) => [entry.path, entry.directory ?? '', ...(entry.envFiles ?? [])])
  const rest = [...(await interpolated(scan, visit, flat))]
  return named.map((entry) => {
    const [path = '', directory = '', ...envFiles] = rest.splice(0, 2 + (entry.envFiles?.length ?? 0))
    return {
      ...entry,
      path,
      ...(entry.directory === undefined ? {} : { directory }),
      ...(entry.envFiles === undefined ? {} : { envFiles }),
    }
  })
}

function* present(texts: ReadonlyMap<string, string | undefined>): Iterable<string> {
  for (const text of texts.values()) if (text !== undefined) yield text
}

function note(scan: Scan, visit: Visit, entry: Pick<HostFile, 'place' | 'kind' | 'path'>): HostFile {
  const remote = entry.kind !== '.env' && isRemote(entry.path)
  // Compose reads a seccomp profile beside the first file, whichever file names it.
  const start = entry.kind === 'seccomp' ? scan.directory : visit.directory
  const path = remote ? entry.path : resolve(start, entry.path)
  const file = { place: entry.place, kind: entry.kind, path, remote, file: visit.path }
  scan.hostFiles.push(file)
  return file
}

/** Where an included file's own paths start, and what it is interpolated with. */
async function includedVisit(scan: Scan, visit: Visit, entry: NamedPath): Promise<Visit> {
  const path = resolve(visit.directory, entry.path)
  const directory = entry.directory
    ? resolve(visit.directory, entry.directory)
    : dirname(resolve(visit.directory, entry.firstPath ?? entry.path))
  const envFiles = entry.envFiles?.map((name) => resolve(visit.directory, name))
  for (const envFile of envFiles ?? []) {
    note(scan, visit, { place: `${entry.place}.env_file`, kind: 'env_file', path: envFile })
    await readOnce(scan, envFile)
  }
  return { path, directory, ...(envFiles === undefined ? {} : { envFiles }) }
}

async function scanNamed(scan: Scan, visit: Visit, entry: NamedPath): Promise<void> {
  const { path, remote } = note(scan, visit, entry)
  if (remote) return
  if (entry.kind === 'include') await scanFile(scan, await includedVisit(scan, visit, entry))
  else if (entry.kind === 'extends') await scanFile(scan, { ...visit, path, directory: dirname(path) })
  else await readOnce(scan, path)
}

async function scanFile(scan: Scan, visit: Visit): Promise<void> {
  const key = `${visit.path}\n${visit.directory}`
  if (scan.visited.has(key)) return
  scan.visited.add(key)
  const text = await readOnce(scan, visit.path)
  if (text === undefined) return
  const dotEnv = join(visit.directory, '.env')
  if (await isThere(dotEnv)) {
    await readOnce(scan, dotEnv)
    note(scan, visit, { place: '.env', kind: '.env', path: dotEnv })
  }
  const documents = parseDocuments(scan, visit.path, text)
  scan.composeFiles.push({ path: visit.path, documents })
  for (const entry of await interpolatedPaths(scan, visit, documents)) await scanNamed(scan, visit, entry)
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

/** Finds every file that reading these compose files would open, without letting Compose open any. @throws ConfigError */
export async function scanSourceFiles(files: readonly string[], options: ScanOptions): Promise<SourceFiles> {
  const directory = options.directory
  const scan: Scan = {
    texts: new Map(),
    composeFiles: [],
    hostFiles: [],
    visited: new Set(),
    directory,
    options,
  }
  for (const path of files) await scanFile(scan, { path, directory })
  return scan
}
