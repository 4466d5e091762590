import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { ConfigError } from '../../errors.ts'
import type { PlanRequest } from './make-plan.ts'
import { ComposeRejection, type ConfigOutput, runConfig } from './read/run-config.ts'

const READS = ['extends', 'env_file', 'label_file'] as const

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A document without anything that makes Compose open further files. */
function withoutReads(document: unknown): unknown {
  if (!isObject(document)) return document
  const { include: _, services, ...rest } = document
  if (!isObject(services)) return rest
  const kept = Object.entries(services).map(([name, service]) => {
    if (!isObject(service)) return [name, service]
    const fields = Object.entries(service).filter(([key]) => !READS.some((read) => read === key))
    return [name, Object.fromEntries(fields)]
  })
  return { ...rest, services: Object.fromEntries(kept) }
}

/** Runs Compose on copies that read nothing else, so that one message can name every refusal. */
async function configWithoutReads(request: PlanRequest): Promise<ConfigOutput | undefined> {
  const { input, sources, variables, context } = request
  const documents = sources.composeFiles
    .filter((file) => input.files.includes(file.path))
    .flatMap((file) => file.documents)
  const folder = await mkdtemp(join(tmpdir(), 'belljar-compose-'))
  try {
    const files = documents.map((_, index) => join(folder, `${index}.yaml`))
    for (const [index, document] of documents.entries()) {
      await writeFile(files[index] ?? '', stringify(withoutReads(document)))
    }
    const call = {
      files,
      directory: input.directory,
      envFiles: ['/dev/null'],
      variables,
      signal: context.signal,
    }
    return await runConfig(call, ['--format', 'yaml'])
  } catch (error) {
    if (error instanceof ComposeRejection) return undefined
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What Compose makes of the files; undefined where some must not be read and the rest makes no sense without them. @throws ConfigError */
export async function runComposeConfig(request: PlanRequest): Promise<ConfigOutput | undefined> {
  if (request.readable.length > 0) return configWithoutReads(request)
  const { input, variables, context } = request
  try {
    return await runConfig(
      { files: input.files, directory: input.directory, variables, signal: context.signal },
      ['--format', 'yaml'],
    )
  } catch (error) {
    if (!(error instanceof ComposeRejection)) throw error
    const unset = error.unset.length > 0 ? `\nnot set, and without default: ${error.unset.join(', ')}` : ''
    throw new ConfigError(`Compose rejects the file:\n${error.message}${unset}`, {
      where: input.shown,
      cause: error,
    })
  }
}
