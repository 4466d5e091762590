import type Docker from 'dockerode'
import type { ServicePlan } from '../../sandbox-plan.ts'
import { call } from '../engine/call.ts'
import type { Delivery, Guests } from '../guest/guests.ts'
import { openService, startGuestService } from '../guest/open-service.ts'
import type { ServiceSandbox } from '../guest/service-sandbox.ts'
import { HELPER_LABEL, NUMBER_LABEL, SERVICE_LABEL } from '../identity/labels.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import type { AttemptContext } from '../start/context.ts'
import type { SharedResources } from '../start/resources.ts'
import { ContainerRef } from './container-ref.ts'
import { createContainer } from './create-container.ts'
import { containerName, type Endpoint, endpointsOf, splitEndpoints } from './endpoints.ts'
import { fillContainer } from './fill-container.ts'
import { chooseKeeper, type Keeper } from './keeper.ts'
import { serviceBody } from './service-body.ts'
import { hasShell } from './shell.ts'

/** One of a service's containers. */
export interface ServiceContainer {
  readonly ref: ContainerRef
  readonly keeper: Keeper
  readonly delivery: Delivery
}

export interface ServiceContext extends AttemptContext, SharedResources {
  readonly guests: Guests
  readonly image: PreparedImage
  /** Ids of the containers of services that are created already. */
  readonly containerIds: (service: string) => readonly string[]
}

const ONE_OFF_LABEL = 'com.docker.compose.oneoff'

/** Creates one container of a service and puts into it what must be there before it starts. @throws EngineError */
export async function createServiceContainer(
  service: ServicePlan,
  number: number,
  context: ServiceContext,
): Promise<ServiceContainer> {
  const { engine, image, signal } = context
  signal.throwIfAborted()
  const name = containerName(context.project, service.name, number)
  const labels = {
    ...context.labels,
    [SERVICE_LABEL]: service.name,
    [NUMBER_LABEL]: String(number),
    [ONE_OFF_LABEL]: 'False',
    ...(service.container.helper && { [HELPER_LABEL]: 'egress' }),
  }
  const delivery = await context.guests.deliver(service.container, image, { run: context.run })
  const keeper = chooseKeeper(service.container, image.entrypoint, delivery)
  const endpoints = endpointsOf(service, { ...context, containerName: name })
  const { created, connected } = splitEndpoints(endpoints, engine)
  const guestMount = delivery.mount
  const body = serviceBody(service, { ...context, number, keeper, labels, endpoints: created, guestMount })
  const platform = service.image.kind === 'reference' ? service.image.platform : undefined
  const id = await createContainer(engine, { name, body, labels, platform })
  const ref = new ContainerRef(engine, { id, name, service: service.name })
  signal.throwIfAborted()
  if (keeper.needsShell) await checkShell(ref, image)
  await fillContainer(ref, service, image)
  if (connected.length > 0) await context.networksMade
  for (const [network, endpoint] of connected) await connect(ref, network, endpoint)
  return { ref, keeper, delivery }
}

/** Starts a created container and opens the way into it. @throws EngineError */
export async function startServiceContainer(
  service: ServicePlan,
  { ref, delivery }: ServiceContainer,
  context: ServiceContext,
): Promise<ServiceSandbox> {
  const opening = { ...context, delivery }
  if (delivery.placement.kind === 'init') return startGuestService(ref, service, opening)
  await call('starting a container', { deadlineMs: 120_000 }, () => ref.control.start())
  return openService(ref, service, opening)
}

async function connect(container: ContainerRef, network: string, endpoint: Endpoint): Promise<void> {
  const EndpointConfig = endpoint as unknown as Docker.EndpointSettings
  await call('connecting a network', {}, () =>
    container.engine.control.getNetwork(network).connect({ Container: container.id, EndpointConfig }),
  )
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
