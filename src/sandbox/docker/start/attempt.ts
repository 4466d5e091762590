import { createHash } from 'node:crypto'
import { errorMessage, SandboxUnavailableError } from '../../../errors.ts'
import { linkedController } from '../../../util/linked-controller.ts'
import type { SandboxPlan } from '../../sandbox-plan.ts'
import type { LoggedContainer } from '../container/service-logs.ts'
import { identityLabels } from '../identity/labels.ts'
import { projectName } from '../identity/names.ts'
import type { EngineObject } from '../remove.ts'
import { DockerStartedSandbox } from '../started-sandbox.ts'
import type { AttemptContext } from './context.ts'
import { runPreStop } from './hooks.ts'
import type { NetworkedContainer } from './network-watch.ts'
import { makeResources, type SharedResources } from './resources.ts'
import { SandboxWatch } from './sandbox-watch.ts'
import type { ServiceStage } from './service-stage.ts'
import { ServiceStarts } from './service-starts.ts'
import { StartFailure } from './start-failure.ts'
import type { StartRequest } from './start-sandbox.ts'

/** Which try to start this was: set from the second on. */
const START_LABEL = 'belljar.start'
const CONFIG_HASH_LABEL = 'com.docker.compose.config-hash'

/** Makes everything of one sandbox once. When it throws, nothing is under way any more, and what was made is still there. */
export async function startAttempt(request: StartRequest, start: number): Promise<DockerStartedSandbox> {
  const { engine, support, guests, plan, images, identity } = request
  const project = projectName(identity, start)
  const labels = {
    ...identityLabels(identity, project),
    ...(start > 1 && { [START_LABEL]: String(start) }),
    [CONFIG_HASH_LABEL]: createHash('sha256').update(project).digest('hex'),
  }
  using ending = linkedController(request.signal)
  const { signal } = ending
  const report = request.report ?? (() => undefined)
  const shared = { engine, support, guests, plan, images, run: identity.run }
  const context = { ...shared, project, labels, signal, report }
  const resources = await sharedResources(context)
  signal.throwIfAborted()
  using starts = new ServiceStarts({ ...context, ...resources })
  const stages = await starts.run()
  signal.throwIfAborted()
  const watch = watchOf(context, resources, stages)
  return new DockerStartedSandbox({
    engine,
    identity,
    watch,
    containers: loggedContainers(plan, stages),
    beforeRemoval: () => stopHooks(context, stages),
    sandboxes: stages.flatMap(({ sandboxes }, index) =>
      plan.services[index]?.container.helper ? [] : sandboxes.slice(0, 1).map((one) => watch.guarded(one)),
    ),
    defaultService: plan.defaultService,
    later: support.later,
    objects: objectsOf(context, resources, stages),
  })
}

async function sharedResources(context: AttemptContext): Promise<SharedResources> {
  try {
    if (context.plan.networks.length > 0) await context.engine.networkEvents.open()
    return await makeResources(context)
  } catch (cause) {
    context.signal.throwIfAborted()
    if (cause instanceof SandboxUnavailableError) throw cause
    throw new StartFailure(`the sandbox did not start: ${errorMessage(cause)}`, { cause })
  }
}

/** Removal has no grace, so that hooks before it run only where the file itself gives some. */
async function stopHooks({ plan }: AttemptContext, stages: readonly ServiceStage[]): Promise<void> {
  const runs = plan.services.flatMap(({ hooks, container }, index) => {
    const graceMs = Number(container.extra.StopTimeout ?? 0) * 1000
    if (!hooks || hooks.preStop.length === 0 || graceMs <= 0) return []
    const containers = stages[index]?.containers ?? []
    return containers.map(({ ref }) => runPreStop(ref, hooks.preStop, graceMs))
  })
  await Promise.all(runs)
}

function loggedContainers({ services }: SandboxPlan, stages: readonly ServiceStage[]): LoggedContainer[] {
  return stages.flatMap(({ containers }, index) =>
    containers.flatMap(({ ref: { id, service }, keeper }, number) =>
      keeper.ownProcess || services[index]?.container.helper ? [] : [{ id, service, number: number + 1 }],
    ),
  )
}

/** A guest that is the main process knows best itself why it has ended. */
function watchOf(
  context: AttemptContext,
  resources: SharedResources,
  stages: readonly ServiceStage[],
): SandboxWatch {
  const { plan, engine, report } = context
  const services = stages.map((stage, index) => {
    const { name, container: { helper } = {} } = plan.services[index] ?? {}
    const isWanted = plan.services.some(({ dependsOn }) =>
      dependsOn.some((edge) => edge.service === name && edge.condition === 'healthy'),
    )
    return {
      containers: stage.containers.filter(({ delivery }) => delivery.placement.kind !== 'init'),
      sandbox: stage.sandboxes[0],
      mayComplete: name !== plan.defaultService && !isWanted && !helper,
    }
  })
  const networked = networkedContainers(plan, resources, stages)
  return new SandboxWatch({ services, networked, engine, report })
}

function networkedContainers(
  { services }: SandboxPlan,
  { networkNames }: SharedResources,
  stages: readonly ServiceStage[],
): NetworkedContainer[] {
  return stages.flatMap(({ containers }, index) => {
    const networks = (services[index]?.networks ?? []).flatMap((name) => networkNames.get(name) ?? [])
    return networks.length === 0 ? [] : containers.map(({ ref }) => ({ ref, networks }))
  })
}

function objectsOf(
  context: AttemptContext,
  resources: SharedResources,
  stages: readonly ServiceStage[],
): EngineObject[] {
  const own = context.plan.volumes.filter(({ external }) => external === undefined)
  const volumes = own.map(({ name }) => resources.volumeNames.get(name) ?? name)
  const networks = context.plan.networks
    .filter(({ perRun }) => !perRun)
    .flatMap(({ name }) => resources.networkNames.get(name) ?? [])
  return [
    ...stages
      .flatMap(({ containers }) => containers)
      .map(({ ref }) => ({ kind: 'container' as const, id: ref.id, name: ref.name })),
    ...networks.map((name) => ({ kind: 'network' as const, id: name, name })),
    ...volumes.map((name) => ({ kind: 'volume' as const, id: name, name })),
  ]
}
