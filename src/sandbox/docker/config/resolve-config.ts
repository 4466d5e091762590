import { isAbsolute, relative, resolve } from 'node:path'
import { ConfigError } from '../../../errors.ts'
import type { DockerConfig, SandboxSpec } from '../../../sample/sandbox-spec.ts'
import { canonicalHash } from '../../../util/canonical.ts'
import type { SecretValue } from '../../../util/secret-mask.ts'
import { resolveCompose, resolveComposeServices } from '../../compose/resolve.ts'
import { allowListPlan } from '../../egress/allow-list-plan.ts'
import { allowListRefusals } from '../../policy/allow-list-rules.ts'
import type { PolicyOptions } from '../../policy/policy.ts'
import type { ResolveContext, ResolvedConfig } from '../../provider.ts'
import type { BuildPlan, ImagePlan, SandboxPlan } from '../../sandbox-plan.ts'
import { discoverDockerConfig } from '../discover.ts'
import { planBuildHashes } from './build-hashes.ts'
import { singleServicePlan } from './single-service.ts'

/** What a resolved Docker configuration carries as `data`. */
export interface DockerConfigData {
  readonly plan: SandboxPlan
  /** Content hash by service, for those that are built. */
  readonly buildHashes: Readonly<Record<string, string>>
  readonly warnings: readonly string[]
  /** What the plan was checked against. */
  readonly policy: PolicyOptions
}

interface Described {
  readonly plan: SandboxPlan
  readonly description: string
  readonly reach: string
  readonly warnings?: readonly string[]
  readonly secrets?: readonly SecretValue[]
}

function buildPlan(
  config: DockerConfig & { build: NonNullable<DockerConfig['build']> },
  base: string,
): BuildPlan {
  const build = typeof config.build === 'string' ? { context: config.build } : config.build
  const platform = ('platform' in build ? build.platform : undefined) ?? config.platform
  const rest = { dockerfile: 'Dockerfile', args: {}, ...build }
  return { ...rest, context: resolve(base, build.context), ...(platform && { platform }) }
}

function describeOwn(config: DockerConfig, taskDirectory: string): Described {
  const reach = `internet: ${config.network === 'internet' ? 'on' : 'off'}`
  if (config.build !== undefined) {
    const build = buildPlan({ ...config, build: config.build }, taskDirectory)
    const dockerfile = isAbsolute(build.dockerfile)
      ? build.dockerfile
      : resolve(build.context, build.dockerfile)
    const plan = singleServicePlan(config, { kind: 'build', build })
    return { plan, description: `build ${relative(taskDirectory, dockerfile) || dockerfile}`, reach }
  }
  const reference = config.image ?? ''
  const platform = config.platform ? { platform: config.platform } : {}
  const image: ImagePlan = { kind: 'reference', reference, pull: config.pull ?? 'missing', ...platform }
  return { plan: singleServicePlan(config, image), description: `image ${reference}`, reach }
}

/** The plan under the allow-list that the configuration has, if it has one. @throws ConfigError where that could not be enforced */
function underAllowList(described: Described, { network }: DockerConfig): Described {
  if (typeof network !== 'object') return described
  const refusals = allowListRefusals(described.plan)
  if (refusals.length > 0) {
    throw new ConfigError(
      `a network allow-list cannot be enforced beside (and no name in \`allow\` changes that):\n${refusals.map((line) => `  ${line}`).join('\n')}`,
      { where: described.description },
    )
  }
  const { plan, reach, rewritings } = allowListPlan(described.plan, network.allow)
  const warnings = rewritings.map((line) => `${described.description}: ${line}`)
  return { ...described, plan, reach, warnings: [...(described.warnings ?? []), ...warnings] }
}

async function describeConfig(config: DockerConfig, context: ResolveContext): Promise<Described> {
  const { compose, services, networks, volumes, secrets, configs } = config
  if (services !== undefined) {
    return resolveComposeServices({ services, networks, volumes, secrets, configs }, context)
  }
  if (compose === undefined) return describeOwn(config, context.taskDirectory)
  return resolveCompose(compose, context)
}

/** Reads what a specification names and hashes it; contacts no engine. @throws ConfigError */
export async function resolveDockerConfig(
  spec: SandboxSpec,
  context: ResolveContext,
): Promise<ResolvedConfig> {
  const config = spec.config ?? discoverDockerConfig(context.taskDirectory)
  if (!config) {
    throw new ConfigError(
      'the sandbox is docker, but there is no compose.yaml, compose.yml, docker-compose.yaml, docker-compose.yml or Dockerfile beside the task file, and the task names none',
      { where: context.taskDirectory },
    )
  }
  context.signal?.throwIfAborted()
  const described = await describeConfig(config, context)
  const { plan, description, reach, secrets, warnings = [] } = underAllowList(described, config)
  const buildHashes = await planBuildHashes(plan)
  const key = canonicalHash({ plan, buildHashes }).slice(0, 32)
  const { taskDirectory, allow } = context
  const data: DockerConfigData = { plan, buildHashes, warnings, policy: { taskDirectory, allow } }
  return { kind: 'docker', key, description, reach, secrets, data }
}
