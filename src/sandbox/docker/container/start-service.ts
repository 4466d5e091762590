import { pack } from 'tar-stream'
import { errorMessage, SandboxUnavailableError } from '../../../errors.ts'
import type { ServicePlan } from '../../sandbox-plan.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { SERVICE_LABEL } from '../identity/labels.ts'
import { objectName } from '../identity/names.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import { containerBody, DEFAULT_WORKDIR } from './container-body.ts'
import { ContainerRef } from './container-ref.ts'
import { createContainer } from './create-container.ts'
import { chooseKeeper, type Keeper } from './keeper.ts'
import { findUnavailable } from './post-mortem.ts'
import { hasShell } from './shell.ts'
import { userIds } from './user-ids.ts'

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
    await ownDefaultWorkdir(container, service, image)
    await call('starting a container', { deadlineMs: 120_000 }, () => container.control.start())
    await checkRunning(container, keeper, image)
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

/** Docker makes a working directory for root; this one is the user's. */
async function ownDefaultWorkdir(
  container: ContainerRef,
  service: ServicePlan,
  image: PreparedImage,
): Promise<void> {
  if (service.container.workdir !== undefined || image.workdir) return
  const ids = await userIds(container, service.container.user ?? image.user)
  if (ids.uid === 0) return
  const archive = pack()
  archive.entry({ name: DEFAULT_WORKDIR.slice(1), type: 'directory', mode: 0o755, ...ids })
  archive.finalize()
  await call('making the working directory', {}, (abortSignal) =>
    container.streams.putArchive(archive as unknown as NodeJS.ReadableStream, { path: '/', abortSignal }),
  )
}

async function checkRunning(container: ContainerRef, keeper: Keeper, image: PreparedImage): Promise<void> {
  for (const pauseMs of keeper.ownProcess ? [0] : LOOKS_AFTER_START_MS) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const dead = await findUnavailable(container)
    if (dead) throw await startFailure(container, dead, image)
  }
}

async function startFailure(
  container: ContainerRef,
  dead: SandboxUnavailableError,
  image: PreparedImage,
): Promise<SandboxUnavailableError> {
  const shell = await hasShell(container).catch(() => true)
  const why = shell
    ? `it ended right after its start. ${dead.message}`
    : `the image ${image.reference} has no shell (/bin/sh), which keeping it alive needs`
  return new SandboxUnavailableError(
    `the sandbox service '${container.service}' did not start: ${why}${dead.postMortem ? `\n${dead.postMortem}` : ''}`,
    {
      reason: 'start',
      service: container.service,
      ...(dead.postMortem && { postMortem: dead.postMortem }),
      cause: dead,
    },
  )
}
