import { chmod, lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SandboxFileError } from '../../errors.ts'
import type { ArtifactRecord } from '../../log/records/artifact-record.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { makeFolder } from '../../util/make-folder.ts'

export const DEFAULT_MAX_ARTIFACT_BYTES = 100 * 1024 * 1024
const MAX_ENTRIES = 20_000

export interface TakeOptions {
  readonly services: ReadonlyMap<string, Sandbox>
  readonly default: Sandbox
  /** Of this host, for what is taken. */
  readonly folder: string
  /** All artifacts of a sample together. */
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** An artifact of which a copy is on this host. */
export interface TakenArtifact {
  readonly record: ArtifactRecord
  /** In the sandbox. */
  readonly path: string
  readonly hostPath: string
}

/**
 * Copies artifacts out of a sandbox, each as the sandbox's user may read it, so that a link leads to nothing that the agent could not have
 * copied. Files and folders come out, and links that stay within them; what is missing, too large or of another kind is told and left.
 * @throws SandboxUnavailableError
 */
export async function takeArtifacts(
  names: readonly string[],
  options: TakeOptions,
): Promise<{ taken: TakenArtifact[]; records: ArtifactRecord[] }> {
  const taken: TakenArtifact[] = []
  const records: ArtifactRecord[] = []
  let bytesLeft = options.maxBytes
  let entriesLeft = MAX_ENTRIES
  for (const name of new Set(names)) {
    const { sandbox, path, hostPath } = placeOf(name, options)
    const record = await takeOne({ name, sandbox, path, hostPath }, { ...options, bytesLeft, entriesLeft })
    records.push(record)
    if (record.status !== 'taken') continue
    bytesLeft -= record.bytes ?? 0
    entriesLeft -= record.files ?? 0
    taken.push({ record, path, hostPath })
  }
  return { taken, records }
}

/** A folder for artifacts that are not kept. */
export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'belljar-artifacts-'))
}

function placeOf(name: string, options: TakeOptions): { sandbox: Sandbox; path: string; hostPath: string } {
  const colon = name.startsWith('/') ? -1 : name.indexOf(':')
  const path = name.slice(colon + 1)
  const service = colon < 0 ? undefined : name.slice(0, colon)
  const sandbox = service === undefined ? options.default : options.services.get(service)
  const folder = service === undefined ? options.folder : join(options.folder, service)
  return { sandbox: sandbox ?? options.default, path, hostPath: join(folder, path) }
}

interface Artifact {
  readonly name: string
  readonly sandbox: Sandbox
  readonly path: string
  readonly hostPath: string
}

async function takeOne(
  { name, sandbox, path, hostPath }: Artifact,
  { bytesLeft, entriesLeft, signal }: TakeOptions & { bytesLeft: number; entriesLeft: number },
): Promise<ArtifactRecord> {
  try {
    await makeFolder(dirname(hostPath))
    await sandbox.download(path, hostPath, {
      maxBytes: Math.max(0, bytesLeft),
      maxEntries: Math.max(1, entriesLeft),
      skipUnsafe: true,
      signal,
    })
    return { name, status: 'taken', ...(await tidied(hostPath)) }
  } catch (error) {
    await rm(hostPath, { recursive: true, force: true })
    if (isTooLongName(error))
      return { name, status: 'refused', why: 'a name in it is too long for this host' }
    if (!(error instanceof SandboxFileError)) throw error
    if (error.kind === 'not-found' || error.kind === 'not-a-directory') return { name, status: 'missing' }
    const status = error.kind === 'too-large' ? 'too-large' : 'refused'
    return { name, status, why: error.message.slice(0, 500) }
  }
}

function isTooLongName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENAMETOOLONG'
}

/** Whoever reads it next can, and nothing has rights of its own. Returns what there is of it. */
async function tidied(path: string): Promise<{ files: number; bytes: number }> {
  const facts = await lstat(path)
  if (facts.isSymbolicLink()) return { files: 1, bytes: 0 }
  if (!facts.isDirectory()) {
    await chmod(path, facts.mode & 0o111 ? 0o755 : 0o644)
    return { files: 1, bytes: facts.size }
  }
  await chmod(path, 0o755)
  const total = { files: 1, bytes: 0 }
  for (const name of await readdir(path)) {
    const { files, bytes } = await tidied(join(path, name))
    total.files += files
    total.bytes += bytes
  }
  return total
}

/** Puts copies where they were, in another sandbox, readable by all and owned by root. @throws SandboxFileError, SandboxUnavailableError */
export async function placeArtifacts(
  taken: readonly TakenArtifact[],
  { sandbox, signal }: { sandbox: Sandbox; signal: AbortSignal },
): Promise<void> {
  for (const { hostPath, path } of taken)
    await sandbox.upload(hostPath, path, { user: '0', replace: true, signal })
}
