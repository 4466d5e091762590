import type { SandboxPlan } from '../../sandbox-plan.ts'
import type { MapContext } from './context.ts'
import { defaultService } from './default-service.ts'
import { networkPlans, volumePlans } from './networks.ts'
import type { ParsedProject } from './project.ts'
import { replicasOf, servicePlan } from './service.ts'
import { inStartOrder } from './start-order.ts'

const RESERVED_LABEL = /^(belljar|com\.docker\.compose)(\.|$)/

function checkLabels(parsed: ParsedProject, context: MapContext): void {
  for (const kind of ['services', 'networks', 'volumes'] as const) {
    for (const [name, entry] of Object.entries(parsed.project[kind] ?? {})) {
      for (const label of Object.keys(entry?.labels ?? {})) {
        if (!RESERVED_LABEL.test(label)) continue
        context.inexpressible.push(`${kind}.${name}.labels.${label}: reserved`)
      }
    }
  }
}

function mountProblem(type: string, target: string): string | undefined {
  if (type === 'npipe' || type === 'cluster') return `a mount of type ${type}`
  if (target.startsWith('/')) return undefined
  return `'${target}' is no absolute path; a volume's name needs two letters or more, one is read as a drive`
}

function checkMounts(parsed: ParsedProject, context: MapContext): void {
  for (const [name, service] of Object.entries(parsed.project.services)) {
    for (const [index, { type, target }] of (service.volumes ?? []).entries()) {
      const problem = mountProblem(type, target)
      if (problem !== undefined) context.inexpressible.push(`services.${name}.volumes[${index}]: ${problem}`)
    }
  }
}

/** Makes the plan of a resolved project. What no plan can express is in `context.inexpressible` afterwards. */
export function composePlan(parsed: ParsedProject, context: MapContext): SandboxPlan {
  const { project, marks, leftovers } = parsed
  context.inexpressible.push(...leftovers)
  checkLabels(parsed, context)
  checkMounts(parsed, context)
  const names = Object.keys(project.services).filter((name) => {
    const service = project.services[name]
    return service !== undefined && replicasOf(service) > 0
  })
  const present = new Set(names)
  const services = names.flatMap((name) => servicePlan(name, { parsed, present, context }) ?? [])
  return {
    services: inStartOrder(services),
    networks: networkPlans(project, context),
    volumes: volumePlans(project, context),
    defaultService: defaultService(names, marks),
  }
}
