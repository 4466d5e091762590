import type { ImagePlan, PullPolicy } from '../../sandbox-plan.ts'
import { buildPlan } from './build.ts'
import type { MapContext } from './context.ts'
import type { ParsedProject } from './project.ts'
import type { ComposeProject } from './schema.ts'
import type { ComposeService } from './schema-service.ts'

const PULL_POLICIES: Readonly<Record<string, PullPolicy>> = {
  always: 'always',
  never: 'never',
  missing: 'missing',
  if_not_present: 'missing',
  build: 'missing',
}

/** `daily`, `weekly` and `every_...` ask for a fresh image after a while; asking always satisfies them. */
function pullPolicy(policy: string | undefined, isLocal: boolean): PullPolicy {
  if (isLocal) return 'never'
  return policy === undefined ? 'missing' : (PULL_POLICIES[policy] ?? 'always')
}

/** The service that builds the image which another one only names. */
function builderOf(image: string | undefined, project: ComposeProject): [string, ComposeService] | undefined {
  return Object.entries(project.services).find(
    ([, service]) => service.build !== undefined && service.image === image,
  )
}

export function imagePlan(
  name: string,
  { project, marks }: Pick<ParsedProject, 'project' | 'marks'>,
  context: MapContext,
): ImagePlan {
  const service = project.services[name]
  const image = service?.image
  const [builder, built] = service?.build ? [name, service] : (image && builderOf(image, project)) || []
  if (builder !== undefined && built?.build !== undefined) {
    const place = `services.${builder}.build`
    return {
      kind: 'build',
      build: buildPlan(built.build, { platform: built.platform, place, project, context }),
    }
  }
  return {
    kind: 'reference',
    reference: image ?? '',
    ...(service?.platform ? { platform: service.platform } : {}),
    pull: pullPolicy(service?.pull_policy, marks.get(name)?.isLocal ?? false),
  }
}
