import { resolve } from 'node:path'
import { parse } from 'yaml'
import { ConfigError } from '../../errors.ts'
import { checkPolicy, refusalLines } from '../policy/policy.ts'
import type { Refusal } from '../policy/refusal.ts'
import { planReach } from '../reach.ts'
import type { SandboxPlan } from '../sandbox-plan.ts'
import type { ResolveRequest } from './cache.ts'
import { checkUnset } from './check-unset.ts'
import { projectHostPaths } from './host-paths.ts'
import { composePlan, type MapContext, type ParsedProject, parseProject, seccompFile } from './map/index.ts'
import { runComposeConfig } from './project-text.ts'
import { composeVariables } from './read/interpolate.ts'
import { isInside } from './read/paths.ts'
import type { ResolvedCompose } from './resolve.ts'
import { secretValues } from './secret-values.ts'

export interface PlanRequest extends ResolveRequest {
  /** Refusals of files that Compose would read: where there are any, it has not read them. */
  readonly readable: readonly Refusal[]
}

/** Compose reads a profile beside the first file, whichever file names it. One that must not be read is refused already. */
function seccompProfiles(request: PlanRequest, parsed: ParsedProject, inexpressible: string[]) {
  const found = new Map<string, string>()
  for (const [name, service] of Object.entries(parsed.project.services)) {
    for (const written of (service.security_opt ?? []).flatMap((option) => seccompFile(option) ?? [])) {
      const path = resolve(request.input.directory, written)
      const text = request.sources.texts.get(path)
      if (text !== undefined) found.set(written, compacted(text, path))
      else if (request.readable.length === 0) {
        inexpressible.push(`services.${name}.security_opt: the seccomp profile ${path} cannot be read`)
      }
    }
  }
  return found
}

function compacted(text: string, path: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch (cause) {
    throw new ConfigError('the seccomp profile is not JSON', { where: path, cause })
  }
}

function environmentNames({ project }: ParsedProject): string[] {
  return [...Object.values(project.secrets ?? {}), ...Object.values(project.configs ?? {})].flatMap(
    (source) => source.environment ?? [],
  )
}

async function environmentOf(request: PlanRequest, parsed: ParsedProject): Promise<Record<string, string>> {
  if (request.readable.length > 0) return {}
  const { input, variables, context } = request
  return composeVariables(environmentNames(parsed), {
    directory: input.directory,
    variables,
    signal: context.signal,
  })
}

function problem(request: PlanRequest, refusals: readonly Refusal[], inexpressible: readonly string[]): void {
  if (refusals.length + inexpressible.length === 0) return
  const lines = [
    ...(refusals.length > 0
      ? ['refused, unless the task names it in `allow`:', ...refusalLines(refusals)]
      : []),
    ...(inexpressible.length > 0
      ? ['not supported in a sandbox:', ...inexpressible.map((line) => `  ${line}`)]
      : []),
  ]
  throw new ConfigError(lines.join('\n'), { where: request.input.shown })
}

interface Mapped {
  readonly plan: SandboxPlan
  readonly context: MapContext
  readonly refusals: readonly Refusal[]
}

async function mapProject(request: PlanRequest, parsed: ParsedProject): Promise<Mapped> {
  const hostPaths = await projectHostPaths(parsed.project)
  const inexpressible: string[] = []
  const profiles = seccompProfiles(request, parsed, inexpressible)
  const refusals = checkPolicy(
    { project: parsed.project, hostPaths, seccompProfiles: profiles },
    { taskDirectory: request.taskDirectory, allow: request.context.allow ?? [] },
  )
  const context: MapContext = {
    seccompProfiles: profiles,
    environment: await environmentOf(request, parsed),
    outsidePaths: new Set(
      hostPaths.filter((path) => !isInside(path.real, request.taskDirectory)).map((path) => path.path),
    ),
    inexpressible,
    rewritings: [],
  }
  return { plan: composePlan(parsed, context), context, refusals }
}

/** From files that have been scanned to a plan. @throws ConfigError */
export async function makePlan(request: PlanRequest): Promise<ResolvedCompose> {
  const { shown } = request.input
  const output = await runComposeConfig(request)
  if (request.sources.unparsed !== undefined) throw request.sources.unparsed
  if (output === undefined) problem(request, request.readable, [])
  const parsed = parseProject(parse(output?.text ?? '', { maxAliasCount: -1 }))
  if (request.readable.length === 0) checkUnset(request, output?.unset ?? [])
  const { plan, context, refusals } = await mapProject(request, parsed).catch((error: unknown) => {
    if (request.readable.length > 0) problem(request, request.readable, [])
    throw error
  })
  problem(request, [...request.readable, ...refusals], context.inexpressible)
  const warnings = [
    ...(output?.unset ?? []).map((name) => `the variable ${name} is not set and has no default: empty`),
    ...(output?.warnings ?? []),
    ...context.rewritings,
  ]
  return {
    plan,
    description: `compose ${shown}`,
    reach: planReach(plan),
    warnings: warnings.map((warning) => `${shown}: ${warning}`),
    secrets: await secretValues(parsed.project, {
      environment: context.environment,
      directory: request.input.directory,
    }),
  }
}
