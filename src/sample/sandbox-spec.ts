import { z } from 'zod'
import { ConfigError } from '../errors.ts'
import { checkEgressPattern } from './egress-pattern.ts'

const buildSchema = z.union([
  z.string().min(1),
  z.strictObject({
    context: z.string().min(1),
    dockerfile: z.string().min(1).optional(),
    args: z.record(z.string(), z.string()).optional(),
    target: z.string().min(1).optional(),
    platform: z.string().min(1).optional(),
  }),
])

const networkSchema = z
  .union([z.enum(['none', 'internet']), z.strictObject({ allow: z.array(z.string()).min(1) })], {
    error: "expected 'none', 'internet' or { allow: [host, ...] } with one host at least",
  })
  .transform((network, context) => {
    if (typeof network === 'string') return network
    const allow = network.allow.flatMap((written, index) => {
      const checked = checkEgressPattern(written)
      if ('pattern' in checked) return checked.pattern
      const message = `'${written}' ${checked.problem}`
      context.addIssue({ code: 'custom', message, path: ['allow', index] })
      return []
    })
    return { allow: [...new Set(allow)] }
  })

const resourceFields = {
  network: networkSchema.optional(),
  memory: z.union([z.string(), z.number().int().positive()]).optional(),
  cpus: z.number().positive().optional(),
  pidsLimit: z.number().int().positive().optional(),
  user: z.string().min(1).optional(),
  workdir: z.string().startsWith('/').optional(),
  env: z.record(z.string().regex(/^[^=\0]+$/), z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  hardening: z.enum(['default', 'strict']).optional(),
  runtime: z.string().min(1).optional(),
  platform: z.string().min(1).optional(),
  pull: z.enum(['missing', 'never', 'always']).optional(),
}

const composePart = z.record(z.string(), z.unknown()).optional()

/** The sections of a compose file, for one that is made in code. */
const composeFields = {
  services: composePart,
  networks: composePart,
  volumes: composePart,
  secrets: composePart,
  configs: composePart,
}

export const dockerConfigSchema = z.strictObject({
  image: z.string().min(1).optional(),
  build: buildSchema.optional(),
  compose: z.string().min(1).optional(),
  ...composeFields,
  ...resourceFields,
})

/**
 * Exactly one of `image`, `build` (folder, or folder, Dockerfile and arguments), `compose` (file) and `services` (with `networks`,
 * `volumes`, `secrets` and `configs` as in a compose file); sizes in bytes or such as `512m`. `network: { allow }` lists the only
 * hosts outside that can be reached, of a compose file too: names, `*.suffix`, IPv4 addresses and blocks.
 */
export type DockerConfig = z.infer<typeof dockerConfigSchema>

/** Which sandbox is asked for; `config` undefined: the one found beside the task file. */
export interface SandboxSpec {
  readonly kind: string
  readonly config?: DockerConfig
}

const CONFIG_SOURCES = ['image', 'build', 'compose', 'services'] as const

function checkedDockerConfig(value: unknown): DockerConfig {
  const parsed = dockerConfigSchema.safeParse(value)
  if (!parsed.success) throw new ConfigError(`sandbox: ${z.prettifyError(parsed.error)}`)
  const named = CONFIG_SOURCES.filter((source) => parsed.data[source] !== undefined)
  if (named.length !== 1) {
    throw new ConfigError(
      `sandbox: expected exactly one of image, build, compose and services, got ${named.join(' and ') || 'none'}`,
    )
  }
  return parsed.data
}

/** A file name says what it is: a Dockerfile, else a compose file. */
function configFromFile(file: string): DockerConfig {
  const name = file.split('/').at(-1) ?? file
  const isDockerfile = name === 'Dockerfile' || name.startsWith('Dockerfile.') || name.endsWith('.Dockerfile')
  if (isDockerfile) {
    const slash = file.lastIndexOf('/')
    return { build: { context: slash < 0 ? '.' : file.slice(0, slash) || '/', dockerfile: name } }
  }
  if (/\.ya?ml$/.test(name)) return { compose: file }
  throw new ConfigError(`sandbox: '${file}' is neither a Dockerfile nor a compose file (.yaml, .yml)`)
}

/** Names a Docker sandbox: a compose file or Dockerfile by path, or a configuration; nothing: what lies beside the task file. */
export function docker(config?: string | DockerConfig): SandboxSpec {
  if (config === undefined) return { kind: 'docker' }
  return {
    kind: 'docker',
    config: typeof config === 'string' ? configFromFile(config) : checkedDockerConfig(config),
  }
}

/** Reads the forms that data files and the command line use: `docker`, `docker:FILE`, `{ kind, image | build | compose }`. @throws ConfigError */
export function parseSandboxSpec(value: unknown): SandboxSpec {
  if (typeof value === 'string') {
    const colon = value.indexOf(':')
    const kind = colon < 0 ? value : value.slice(0, colon)
    if (kind === '') throw new ConfigError(`sandbox: expected KIND or KIND:FILE, got '${value}'`)
    return colon < 0 ? { kind } : { kind, config: configFromFile(value.slice(colon + 1)) }
  }
  if (typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string') {
    const { kind, config, ...fields } = value as { kind: string; config?: object }
    const given = { ...config, ...fields }
    return Object.keys(given).length === 0 ? { kind } : { kind, config: checkedDockerConfig(given) }
  }
  throw new ConfigError(
    `sandbox: expected 'docker', 'docker:FILE' or { kind, image | build | compose }, got ${JSON.stringify(value)}`,
  )
}
