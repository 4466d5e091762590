import { ConfigError } from '../../../errors.ts'
import type { ServicePlan } from '../../sandbox-plan.ts'

/** Services that must be there before `service` can be created, whatever else depends on them. */
export function prerequisites(service: ServicePlan): Set<string> {
  const { joins = {}, links = [], volumesFrom = [] } = service
  return new Set([
    ...service.dependsOn.map((dependency) => dependency.service),
    ...Object.values(joins),
    ...links.map((link) => link.service),
    ...volumesFrom.map((entry) => entry.service),
  ])
}

/** Each service after all of its prerequisites, otherwise in the order given. @throws ConfigError on a cycle */
export function inStartOrder(services: readonly ServicePlan[]): ServicePlan[] {
  const ordered: ServicePlan[] = []
  const placed = new Set<string>()
  const known = new Set(services.map((service) => service.name))
  let waiting = [...services]
  while (waiting.length > 0) {
    const ready = waiting.find((service) =>
      [...prerequisites(service)].every((name) => placed.has(name) || !known.has(name)),
    )
    if (ready === undefined) {
      const names = waiting.map((service) => service.name).join(', ')
      throw new ConfigError(`services depend on each other in a circle: ${names}`)
    }
    ordered.push(ready)
    placed.add(ready.name)
    waiting = waiting.filter((service) => service !== ready)
  }
  return ordered
}
