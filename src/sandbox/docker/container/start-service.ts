import { errorMessage, SandboxUnavailableError } from '../../../errors.ts'
import type { ServicePlan } from '../../sandbox-plan.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { SERVICE_LABEL } from '../identity/labels.ts'
import { objectName } from '../identity/names.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import { containerBody } from './container-body.ts'
import { ContainerRef } from './container-ref.ts'
import { createContainer } from './create-container.ts'
import { fillContainer } from './fill-container.ts'
import { chooseKeeper, type Keeper } from './keeper.ts'
import { connectFurtherNetworks } from './networks.ts'
import { findUnavailable } from './post-mortem.ts'
import { hasShell } from './shell.ts'

export interface StartContext {
  readonly engine: Engine
  readonly image: PreparedImage
  readonly project: string
  readonly labels: Readonly<Record<string, string>>
  readonly networkNames: ReadonlyMap<string, string>
  readonly volumeNames: ReadonlyMap<string, string>
  readonly signal?: AbortSignal | undefined
}

/** A foreign main process that cannot run ends within moments of its start; one of belljar's own has ended by then. */
const LOOKS_AFTER_START_MS = [0, 40, 120]

/** Creates and starts the container of one service. @throws SandboxUnavailableError with reason 'start' */
export async function startService(service: ServicePlan, context: StartContext): Promise<ContainerRef> {
  const { engine, image, signal } = context
  const name = objectName(context.project, service.name)
  const labels = { ...context.labels, [SERVICE_LABEL]: service.name }
  const keeper = chooseKeeper(service.container, image.entrypoint)
  const body = containerBody(service, { ...context, keeper, containerName: name, labels })
  const platform = service.image.kind === 'reference' ? service.image.platform : undefined
  try {
    const id = await createContainer(engine, { name, body, labels, platform })
    const container = new ContainerRef(engine, { id, name, service: service.name })
    signal?.throwIfAborted()
    if (keeper.needsShell) await checkShell(container, image)
    await fillContainer(container, service, image)
    await connectFurtherNetworks(container, service, { ...context, containerName: name })
    await call('starting a container', { deadlineMs: 120_000 }, () => container.control.start())
    await checkRunning(container, keeper)
    return container
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof SandboxUnavailableError) throw error
    throw new SandboxUnavailableError(
      `the sandbox service '${service.name}' did not start: ${errorMessage(error)}`,
      { reason: 'start', service: service.name, cause: error },
    )
  }
}

async function checkRunning(container: ContainerRef, keeper: Keeper): Promise<void> {
  for (const pauseMs of keeper.ownProcess ? [0] : LOOKS_AFTER_START_MS) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const dead = await findUnavailable(container)
    if (dead) throw startFailure(container, dead)
  }
}

const imagesWithShell = new WeakSet<PreparedImage>()

/** Looks once for each image: a keep-alive without its shell would seem to run for some moments. */
async function checkShell(container: ContainerRef, image: PreparedImage): Promise<void> {
  if (imagesWithShell.has(image)) return
  if (!(await hasShell(container))) {
    throw new Error(`the image ${image.reference} has no shell (/bin/sh), which keeping it alive needs`)
  }
  imagesWithShell.add(image)
}

function startFailure(container: ContainerRef, dead: SandboxUnavailableError): SandboxUnavailableError {
  const details = dead.postMortem ? `\n${dead.postMortem}` : ''
  return new SandboxUnavailableError(
    `the sandbox service '${container.service}' did not start: it ended right after its start. ${dead.message}${details}`,
    {
      reason: 'start',
      service: container.service,
      ...(dead.postMortem && { postMortem: dead.postMortem }),
      cause: dead,
    },
  )
}
