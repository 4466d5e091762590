import { ConfigError } from '../../errors.ts'
import { realPath } from '../compose/read/paths.ts'
import type { SandboxPlan } from '../sandbox-plan.ts'
import { pathRefusals } from './path-rules.ts'
import { type PolicyOptions, refusalLines, withoutAllowed } from './policy.ts'
import type { HostPath, Refusal } from './refusal.ts'

interface Mount {
  readonly Type: string
  readonly Source?: string
}

function bindSources(hostConfig: Readonly<Record<string, unknown>>): string[] {
  const binds = (hostConfig.Binds ?? []) as readonly string[]
  const mounts = (hostConfig.Mounts ?? []) as readonly Mount[]
  return [
    ...binds.map((bind) => bind.split(':')[0] ?? ''),
    ...mounts.flatMap(({ Type, Source }) => (Type === 'bind' && Source !== undefined ? [Source] : [])),
  ].filter((source) => source.startsWith('/'))
}

/**
 * Bind mounts of a plan that have come to lead outside the task's folder since it was resolved.
 * A sandbox that may write to the task's folder can put a link there for the next one: ask again before each start.
 */
export async function movedBinds(plan: SandboxPlan, options: PolicyOptions): Promise<Refusal[]> {
  const paths = plan.services.flatMap((service) =>
    bindSources(service.container.hostConfig).map(
      async (path): Promise<HostPath> => ({
        place: `services.${service.name}.volumes`,
        use: 'bind',
        path,
        remote: false,
        real: await realPath(path),
      }),
    ),
  )
  const taskDirectory = await realPath(options.taskDirectory)
  const refusals = withoutAllowed(pathRefusals(await Promise.all(paths), taskDirectory), options.allow ?? [])
  // Files of secrets and configurations are bind mounts in a plan, but allowed under another name.
  return refusals.filter(({ allow }) => !options.allow?.includes(allow.replace(/^bind:/, 'file:')))
}

/** @throws ConfigError for bind mounts that have come to lead outside the task's folder */
export async function refuseMovedBinds(plan: SandboxPlan, options: PolicyOptions): Promise<void> {
  const refusals = await movedBinds(plan, options)
  if (refusals.length === 0) return
  throw new ConfigError(
    `bind mounts lead elsewhere than when the run began:\n${refusalLines(refusals).join('\n')}`,
  )
}
