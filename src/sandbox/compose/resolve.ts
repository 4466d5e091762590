import { access, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { stringify } from 'yaml'
import { ConfigError } from '../../errors.ts'
import type { SecretValue } from '../../util/secret-mask.ts'
import type { ResolveContext } from '../provider.ts'
import type { SandboxPlan } from '../sandbox-plan.ts'
import { cachedResolution } from './cache.ts'
import { makePlan } from './make-plan.ts'
import { isInside, realPath } from './read/paths.ts'
import { scanSourceFiles } from './read/source-files.ts'
import { metadataVariables } from './read/variables.ts'
import { readableFiles } from './readable-files.ts'

export interface ResolvedCompose {
  readonly plan: SandboxPlan
  /** For people, such as `compose compose.yaml`. */
  readonly description: string
  /** Such as `internet: on (web)`. */
  readonly reach: string
  /** What Compose warned of, and what is rewritten so that copies can run side by side. */
  readonly warnings: string[]
  readonly secrets: readonly SecretValue[]
}

/** Where a configuration comes from and how it is called in messages. */
export interface ComposeInput {
  readonly files: readonly string[]
  /** Where relative paths start. */
  readonly directory: string
  readonly shown: string
}

/**
 * Reads compose files, in order, as Compose does; relative names start at the task's folder. Starts nothing and contacts no engine.
 * @throws ConfigError for what Compose rejects, what no plan can express and what the policy refuses, each list complete
 */
export async function resolveCompose(
  file: string | readonly string[],
  context: ResolveContext,
): Promise<ResolvedCompose> {
  const files = [file].flat().map((name) => resolve(context.taskDirectory, name))
  const [first] = files
  if (first === undefined) throw new ConfigError('expected at least one compose file')
  const shown = files.map((name) => shownPath(name, context.taskDirectory)).join(' + ')
  for (const name of files) {
    await access(name).catch((cause: unknown) => {
      throw new ConfigError('there is no such compose file', { where: name, cause })
    })
  }
  return resolveInput({ files, directory: dirname(first), shown }, context)
}

/** As `resolveCompose`, for a compose document made in code: `{ services: {...} }`. Relative paths start at the task's folder. */
export async function resolveComposeServices(
  definition: object,
  context: ResolveContext,
): Promise<ResolvedCompose> {
  const folder = await mkdtemp(join(tmpdir(), 'belljar-compose-'))
  try {
    const file = join(folder, 'compose.yaml')
    await writeFile(file, stringify(definition))
    const input = { files: [file], directory: resolve(context.taskDirectory), shown: 'services' }
    return await resolveInput(input, context)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function shownPath(file: string, taskDirectory: string): string {
  const way = relative(taskDirectory, file)
  return way.startsWith('..') ? file : way || basename(file)
}

async function resolveInput(input: ComposeInput, context: ResolveContext): Promise<ResolvedCompose> {
  context.signal?.throwIfAborted()
  const taskDirectory = await realPath(context.taskDirectory)
  const mayRead = async (path: string) =>
    input.files.includes(path) || isInside(await realPath(path), taskDirectory) || isAllowed(path, context)
  const variables = (texts: Iterable<string>) => metadataVariables(texts, context.metadata ?? {})
  const sources = await scanSourceFiles(input.files, {
    directory: input.directory,
    mayRead,
    variables,
    signal: context.signal,
  })
  const used = variables([...sources.texts.values()].filter((text) => text !== undefined))
  const request = { input, sources, context, taskDirectory, variables: used }
  return cachedResolution(request, async (signal) => {
    const shared = { ...request, context: { ...context, signal } }
    return makePlan({ ...shared, readable: await readableFiles(shared) })
  })
}

function isAllowed(path: string, context: ResolveContext): boolean {
  return context.allow?.includes(`file:${path}`) ?? false
}
