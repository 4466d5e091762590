import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { canonicalHash } from '../../../util/canonical.ts'
import type { BuildPlan } from '../../sandbox-plan.ts'
import { type BuildContext, type ContextEntry, readBuildContext } from './build-context.ts'

/** Files by path, size and time of change: read once in a process as long as these stay. */
const knownDigests = new Map<string, string>()

async function fileDigest(folder: string, entry: ContextEntry): Promise<string> {
  const path = join(folder, entry.path)
  const key = `${path}\0${entry.size}\0${entry.mtimeMs}`
  const known = knownDigests.get(key)
  if (known) return known
  const hash: Hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  const digest = hash.digest('hex')
  knownDigests.set(key, digest)
  return digest
}

async function contentOf(context: BuildContext): Promise<unknown[]> {
  const items: unknown[] = []
  for (const entry of context.entries) {
    const { path, type, mode, linkTarget } = entry
    const digest = type === 'file' ? await fileDigest(context.folder, entry) : null
    items.push([path, type, mode, linkTarget ?? null, digest])
  }
  return items
}

/** Hash of all that a build's result depends on: paths, modes, contents, link targets, Dockerfile, arguments, target, platform. Not times. */
export async function buildHash(plan: BuildPlan): Promise<string> {
  const context = await readBuildContext(plan)
  const { args, target, platform, options, buildx } = plan
  return canonicalHash({
    content: await contentOf(context),
    dockerfile: context.dockerfile.toString('base64'),
    dockerfileName: context.dockerfileName,
    args,
    target,
    platform,
    options,
    buildx,
  }).slice(0, 40)
}
