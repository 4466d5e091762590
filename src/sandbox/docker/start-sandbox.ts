import { SandboxUnavailableError } from '../../errors.ts'
import type { SandboxIdentity } from '../../sample/identity.ts'
import type { SandboxPlan } from '../sandbox-plan.ts'
import { createResources } from './container/networks.ts'
import { startService } from './container/start-service.ts'
import type { Engine } from './engine/engine.ts'
import { EngineSandbox } from './engine-sandbox.ts'
import { identityLabels } from './identity/labels.ts'
import { projectName } from './identity/names.ts'
import type { PreparedImage } from './image/prepared-image.ts'
import { type EngineObject, removeSelected } from './remove.ts'
import { DockerStartedSandbox } from './started-sandbox.ts'

export interface StartRequest {
  readonly engine: Engine
  readonly plan: SandboxPlan
  readonly images: ReadonlyMap<string, PreparedImage>
  readonly identity: SandboxIdentity
  readonly signal?: AbortSignal | undefined
}

/** Starts the services of a plan in its order. What a failed or aborted start had made is removed before it throws. */
export async function startSandbox(request: StartRequest): Promise<DockerStartedSandbox> {
  try {
    return await startAll(request)
  } catch (error) {
    await removeSelected(request.engine, request.identity).catch(() => undefined)
    throw error
  }
}

async function startAll(request: StartRequest): Promise<DockerStartedSandbox> {
  const { engine, plan, images, identity, signal } = request
  const project = projectName(identity)
  const labels = identityLabels(identity, project)
  const context = { engine, project, labels, signal }
  const resources = await createResources(plan, context)
  const sandboxes: EngineSandbox[] = []
  for (const service of plan.services) {
    signal?.throwIfAborted()
    const image = images.get(service.name)
    if (!image) {
      throw new SandboxUnavailableError(`the image of service '${service.name}' was not prepared`, {
        reason: 'start',
        service: service.name,
      })
    }
    const container = await startService(service, { ...context, ...resources, image })
    sandboxes.push(new EngineSandbox(container))
  }
  signal?.throwIfAborted()
  const objects: EngineObject[] = [
    ...sandboxes.map(({ container }) => ({
      kind: 'container' as const,
      id: container.id,
      name: container.name,
    })),
    ...[...resources.networkNames.values()].map((name) => ({ kind: 'network' as const, id: name, name })),
    ...plan.volumes
      .filter(({ external }) => external === undefined)
      .map((volume) => resources.volumeNames.get(volume.name) ?? volume.name)
      .map((name) => ({ kind: 'volume' as const, id: name, name })),
  ]
  return new DockerStartedSandbox({
    engine,
    identity,
    sandboxes,
    defaultService: plan.defaultService,
    objects,
  })
}
