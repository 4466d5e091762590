import { sleep } from '../../../util/abort.ts'
import type { SandboxPlan, ServicePlan } from '../../sandbox-plan.ts'
import { type Awaited, type AwaitOptions, awaitVerdict, type Reached } from './await-verdict.ts'
import type { ServiceStage } from './service-stage.ts'
import { StartFailure } from './start-failure.ts'

export interface AwaitServiceOptions extends AwaitOptions {
  readonly plan: SandboxPlan
}

/** A main process that cannot run ends within moments of its start; what belljar keeps alive itself has ended by then. */
const SETTLE_MS = 120

/** Waits until a started service is all that its plan and those who depend on it ask for. @throws StartFailure */
export async function awaitService(
  service: ServicePlan,
  stage: ServiceStage,
  options: AwaitServiceOptions,
): Promise<void> {
  const { services } = options.plan
  const edges = services.flatMap(({ dependsOn }) => dependsOn.filter((edge) => edge.service === service.name))
  const wants = (condition: string) => edges.some((edge) => edge.condition === condition)
  const isCompleted = wants('completed')
  const isHealthy = wants('healthy')
  await Promise.all([
    ...(isHealthy ? [each(stage, 'healthy', options).then(() => stage.healthy.resolve())] : []),
    ...(isCompleted ? [each(stage, 'completed', options).then(() => stage.completed.resolve())] : []),
    ...(isHealthy || isCompleted ? [] : [awaitRunning(service, stage, options)]),
  ])
}

function each(
  { containers }: ServiceStage,
  awaited: Awaited,
  options: AwaitServiceOptions,
): Promise<Reached[]> {
  return Promise.all(containers.map(({ ref }) => awaitVerdict(ref, awaited, options)))
}

/** Healthy where it has a health check, else still there after some moments; a service beside the default one may also have done its work. */
async function awaitRunning(
  service: ServicePlan,
  stage: ServiceStage,
  options: AwaitServiceOptions,
): Promise<void> {
  let reached = await each(stage, 'ready', options)
  const isForeign = stage.containers.some((container) => !container.keeper.ownProcess)
  if (isForeign && reached.includes('running')) {
    await sleep(SETTLE_MS, options.signal)
    reached = await each(stage, 'ready', options)
  }
  if (service.name !== options.plan.defaultService || !reached.includes('completed')) return
  throw new StartFailure(
    `the sandbox service '${service.name}' did not start: its main process ended with exit code 0, but it is the service that the agent works in`,
    { service: service.name },
  )
}
