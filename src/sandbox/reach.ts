import type { SandboxPlan, ServicePlan } from './sandbox-plan.ts'

function isOnOpenNetwork(service: ServicePlan, plan: SandboxPlan): boolean {
  const mode = service.container.hostConfig.NetworkMode
  if (service.networks.length === 0) return mode !== 'none'
  return service.networks.some(
    (name) => plan.networks.find((network) => network.name === name)?.internal !== true,
  )
}

/** The service whose network namespace a service is in. */
function networkHolder(service: ServicePlan, plan: SandboxPlan): ServicePlan {
  let holder = service
  for (let depth = 0; depth <= plan.services.length; depth++) {
    const next = plan.services.find((other) => other.name === holder.joins?.network)
    if (next === undefined) return holder
    holder = next
  }
  return holder
}

/** Names of the services that can reach the internet. */
export function openServices(plan: SandboxPlan): string[] {
  return plan.services
    .filter((service) => isOnOpenNetwork(networkHolder(service, plan), plan))
    .map((service) => service.name)
}

/** For the run's header: `internet: on (web, db)` or `internet: off`. */
export function planReach(plan: SandboxPlan): string {
  const open = openServices(plan)
  if (open.length === 0) return 'internet: off'
  return plan.services.length === 1 ? 'internet: on' : `internet: on (${open.join(', ')})`
}
