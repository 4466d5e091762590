import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, readlink, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack } from 'tar-stream'
import { ConfigError } from '../../../errors.ts'
import type { BuildPlan } from '../../sandbox-plan.ts'
import { readIgnore } from './dockerignore.ts'
import { withoutLogs } from './without-logs.ts'

export interface ContextEntry {
  /** Relative, with `/`. */
  readonly path: string
  readonly type: 'file' | 'directory' | 'symlink'
  readonly mode: number
  readonly size: number
  readonly mtimeMs: number
  readonly linkTarget?: string
}

export interface BuildContext {
  readonly folder: string
  /** In byte order of their paths. */
  readonly entries: readonly ContextEntry[]
  /** Of the Dockerfile in the archive. */
  readonly dockerfileName: string
  readonly dockerfile: Buffer
  /** The Dockerfile is not among the entries (outside of the context, ignored, or inline text) and is added. */
  readonly dockerfileAdded: boolean
}

/** BuildKit copies all that an uploaded archive holds, so `COPY . .` sees this one, unlike with Docker's own client. */
const ADDED_DOCKERFILE = '.belljar.Dockerfile'

async function contentsOf(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => undefined)
  if (!names) return `${folder} is not a folder`
  return `${folder} holds ${names.slice(0, 20).sort().join(', ') || 'nothing'}`
}

async function dockerfileText(plan: BuildPlan, path: string): Promise<Buffer> {
  if (plan.dockerfileInline !== undefined) return Buffer.from(plan.dockerfileInline)
  try {
    return await readFile(path)
  } catch (cause) {
    throw new ConfigError(
      `there is no Dockerfile ${path} to read: ${await contentsOf(resolve(path, '..'))}`,
      {
        where: path,
        cause,
      },
    )
  }
}

async function entryOf(folder: string, path: string): Promise<ContextEntry | undefined> {
  const absolute = join(folder, path)
  const facts = await lstat(absolute)
  const common = { path, mode: facts.mode & 0o7777, mtimeMs: facts.mtimeMs }
  if (facts.isFile()) return { ...common, type: 'file', size: facts.size }
  if (facts.isDirectory()) return { ...common, type: 'directory', size: 0 }
  if (!facts.isSymbolicLink()) return undefined
  return { ...common, type: 'symlink', size: 0, linkTarget: await readlink(absolute) }
}

/** Every entry that is not ignored; an ignored folder is still searched, as later patterns may take parts of it back. */
async function walk(folder: string, ignores: (path: string) => boolean, below = ''): Promise<ContextEntry[]> {
  const found: ContextEntry[] = []
  for (const name of await readdir(join(folder, below))) {
    const path = below ? `${below}/${name}` : name
    const entry = await entryOf(folder, path)
    if (!entry) continue
    if (!ignores(path)) found.push(entry)
    if (entry.type === 'directory') found.push(...(await walk(folder, ignores, path)))
  }
  return found
}

/** Reads what a build is made from, as Docker's own client would send it. @throws ConfigError */
export async function readBuildContext(plan: BuildPlan): Promise<BuildContext> {
  const folder = plan.context
  const facts = await stat(folder).catch(() => undefined)
  if (!facts?.isDirectory()) {
    const parent = resolve(folder, '..')
    throw new ConfigError(`there is no build folder ${folder}: ${await contentsOf(parent)}`, {
      where: folder,
    })
  }
  const dockerfilePath = isAbsolute(plan.dockerfile) ? plan.dockerfile : join(folder, plan.dockerfile)
  const dockerfile = await dockerfileText(plan, dockerfilePath)
  const entries = withoutLogs(await walk(folder, readIgnore(folder, dockerfilePath)))
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
  const inContext = relative(folder, dockerfilePath).split(sep).join('/')
  const present =
    plan.dockerfileInline === undefined &&
    entries.some((entry) => entry.path === inContext && entry.type === 'file')
  return {
    folder,
    entries,
    dockerfile,
    dockerfileName: present ? inContext : ADDED_DOCKERFILE,
    dockerfileAdded: !present,
  }
}

/** The context as an archive; ids and times of the host are left out, as they must make no difference. */
export function contextArchive(context: BuildContext): Readable {
  const archive = pack()
  const fill = async () => {
    for (const entry of context.entries) await addEntry(archive, context.folder, entry)
    if (context.dockerfileAdded) archive.entry({ name: context.dockerfileName }, context.dockerfile)
    archive.finalize()
  }
  fill().catch((error: Error) => archive.destroy(error))
  return archive as unknown as Readable
}

async function addEntry(
  archive: ReturnType<typeof pack>,
  folder: string,
  entry: ContextEntry,
): Promise<void> {
  const header = { name: entry.path, mode: entry.mode, uid: 0, gid: 0, mtime: new Date(entry.mtimeMs) }
  if (entry.type !== 'file') {
    archive.entry({
      ...header,
      type: entry.type,
      ...(entry.linkTarget !== undefined && { linkname: entry.linkTarget }),
    })
    return
  }
  const sink = archive.entry({ ...header, type: 'file', size: entry.size })
  await pipeline(createReadStream(join(folder, entry.path)), sink as unknown as NodeJS.WritableStream)
}
