import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { ConfigError } from '../../../errors.ts'

const configSchema = z.looseObject({ currentContext: z.string().optional() })
const metaSchema = z.looseObject({
  Endpoints: z.looseObject({ docker: z.looseObject({ Host: z.string().optional() }).optional() }),
})

export interface ActiveContext {
  readonly name: string
  readonly host: string
  /** What chose it. */
  readonly chosenBy: string
  readonly certificates: string
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw new ConfigError(`not JSON: ${error.message}`, { where: file })
    return undefined
  }
}

/** The Docker command line's active context, unless that is `default`. @throws ConfigError when it is named but not there */
export function activeContext(environment: NodeJS.ProcessEnv, home: string): ActiveContext | undefined {
  const folder = environment.DOCKER_CONFIG ?? join(home, '.docker')
  const configFile = join(folder, 'config.json')
  const fromConfig = configSchema.safeParse(readJson(configFile)).data?.currentContext
  const name = environment.DOCKER_CONTEXT || fromConfig
  if (!name || name === 'default') return undefined
  const chosenBy = environment.DOCKER_CONTEXT ? 'DOCKER_CONTEXT' : `currentContext in ${configFile}`
  const id = createHash('sha256').update(name).digest('hex')
  const metaFile = join(folder, 'contexts', 'meta', id, 'meta.json')
  const host = metaSchema.safeParse(readJson(metaFile)).data?.Endpoints.docker?.Host
  if (!host) {
    throw new ConfigError(
      `the docker context '${name}' (from ${chosenBy}) does not exist or names no engine: expected it in ${metaFile}; see \`docker context ls\``,
    )
  }
  return { name, host, chosenBy, certificates: join(folder, 'contexts', 'tls', id, 'docker') }
}
