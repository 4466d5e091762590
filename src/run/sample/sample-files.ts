import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ConfigError, errorMessage } from '../../errors.ts'
import type { FileContent, Sample, SampleFiles } from '../../sample/sample.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { download } from '../../util/download.ts'

export interface PlaceOptions {
  readonly services: ReadonlyMap<string, Sandbox>
  readonly default: Sandbox
  /** Folder that relative host paths start at. */
  readonly directory: string
  /** Who owns the files; default: each service's own user. */
  readonly user?: string
  /** Removes whatever file or link is at a target first. */
  readonly replace?: boolean
  readonly signal: AbortSignal
}

/** Puts a sample's files into its sandbox, in the order in which they are named. @throws ConfigError, SandboxFileError, SandboxUnavailableError */
export async function placeFiles(files: SampleFiles, options: PlaceOptions): Promise<void> {
  for (const [target, content] of Object.entries(files)) {
    const { sandbox, path } = targetOf(target, options)
    const { user, signal } = options
    if (options.replace) await sandbox.remove(path, { user, signal, force: true, recursive: true })
    await placeOne({ sandbox, path, target }, content, options)
  }
}

interface Place {
  readonly sandbox: Sandbox
  readonly path: string
  /** As the sample names it. */
  readonly target: string
}

async function placeOne(
  { sandbox, path, target }: Place,
  content: FileContent,
  options: PlaceOptions,
): Promise<void> {
  const { user, signal } = options
  if (typeof content === 'string') return sandbox.writeFile(path, content, { user, signal })
  if ('data' in content) return sandbox.writeFile(path, bytesOf(content.data), { user, signal })
  if ('url' in content)
    return sandbox.writeFile(path, await download(content.url, { signal }), { user, signal })
  const hostPath = resolve(options.directory, content.path)
  const found = await stat(hostPath).catch((error: unknown) => {
    throw new ConfigError(`cannot read ${hostPath}: ${errorMessage(error)}`, {
      where: `file '${target}'`,
      cause: error,
    })
  })
  if (!found.isFile() && !found.isDirectory())
    throw new ConfigError(`${hostPath} is neither a file nor a folder`, { where: `file '${target}'` })
  return sandbox.upload(hostPath, path, { user, signal })
}

/** `service:path` where there is a service of that name; absolute paths name the default service. */
function targetOf(target: string, options: PlaceOptions): { sandbox: Sandbox; path: string } {
  const colon = target.indexOf(':')
  if (colon < 0 || target.startsWith('/')) return { sandbox: options.default, path: target }
  const service = target.slice(0, colon)
  const sandbox = options.services.get(service)
  if (!sandbox) {
    const known = [...options.services.keys()].join(', ')
    throw new ConfigError(`there is no service '${service}' (services: ${known})`, {
      where: `file '${target}'`,
    })
  }
  return { sandbox, path: target.slice(colon + 1) }
}

function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'base64') : data
}

export interface HostReference {
  /** `file '/a/b'` or `part 2 of the input`. */
  readonly what: string
  readonly kind: 'path' | 'url'
  readonly isMedia: boolean
}

/** What added samples may not name unless the task allows it, since an agent may have had a hand in them. */
export function hostReferences({ files = {}, tests = {}, input }: Sample): HostReference[] {
  const contents = [...Object.entries(files), ...Object.entries(tests)].map(
    ([target, content]) => ({ what: `file '${target}'`, content, isMedia: false }) as const,
  )
  const media = typeof input === 'string' ? [] : input
  const parts = media.map((content, index) => ({
    what: `part ${index + 1} of the input`,
    content,
    isMedia: true,
  }))
  return [...contents, ...parts].flatMap(({ what, content, isMedia }): HostReference[] => {
    if (typeof content === 'string') return []
    if ('path' in content && content.path !== undefined) return [{ what, kind: 'path', isMedia }]
    const isElsewhere = 'url' in content && content.url !== undefined && !content.url.startsWith('data:')
    return isElsewhere ? [{ what, kind: 'url', isMedia }] : []
  })
}
