import { pathRefusals } from '../policy/path-rules.ts'
import { withoutAllowed } from '../policy/policy.ts'
import type { HostPath, Refusal } from '../policy/refusal.ts'
import type { ResolveRequest } from './cache.ts'
import { realPath } from './read/paths.ts'
import type { HostFile } from './read/source-files.ts'

async function hostPath(file: HostFile): Promise<HostPath> {
  const { place, path, remote } = file
  return { place, use: 'file', path, remote, real: remote ? path : await realPath(path) }
}

/** What the policy says of the files that reading would open, before Compose may open them. */
export async function readableFiles(request: ResolveRequest): Promise<Refusal[]> {
  const named = request.sources.hostFiles
  const withFile = named.map((file) =>
    request.input.files.includes(file.file) ? file : { ...file, place: `${file.file}: ${file.place}` },
  )
  const paths = await Promise.all(withFile.map(hostPath))
  const unique = [...new Map(paths.map((path) => [`${path.place}\n${path.path}`, path])).values()]
  return withoutAllowed(pathRefusals(unique, request.taskDirectory), request.context.allow ?? [])
}
