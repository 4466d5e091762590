import type { GuestHello } from '../../guest/connection.ts'
import type { SandboxReport } from '../../provider.ts'
import type { ServicePlan } from '../../sandbox-plan.ts'
import { workdirOf } from '../container/container-body.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { EngineSandbox } from '../engine-sandbox.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import { DockerGuestSandbox } from './docker-guest-sandbox.ts'
import { ExecGuest } from './exec-guest.ts'
import { FallbackSandbox } from './fallback-sandbox.ts'
import type { Delivery, Guests } from './guests.ts'
import { InitGuest } from './init-guest.ts'
import type { ServiceSandbox } from './service-sandbox.ts'

export interface OpenServiceContext {
  readonly guests: Guests
  readonly run: string
  readonly delivery: Delivery
  readonly image: PreparedImage
  readonly signal?: AbortSignal | undefined
  readonly report?: ((report: SandboxReport) => void) | undefined
}

/** Starts a created container whose main process is the guest. */
export async function startGuestService(
  container: ContainerRef,
  service: ServicePlan,
  context: OpenServiceContext,
): Promise<ServiceSandbox> {
  const { guests, delivery, signal } = context
  const guest = await InitGuest.start(container, {
    hello: helloOf(service, context),
    autoRemove: delivery.autoRemove,
    signal,
  }).catch((error: unknown) => {
    // The volume may be gone, and made anew without the guest in it.
    guests.forget(context.run)
    throw error
  })
  return new DockerGuestSandbox(container, guest, { strict: isStrict(service) })
}

/** The sandbox of a container that runs its own main process. */
export function openService(
  container: ContainerRef,
  service: ServicePlan,
  context: OpenServiceContext,
): ServiceSandbox {
  const { delivery, report } = context
  if (delivery.placement.kind === 'engine') return new EngineSandbox(container)
  const warn = (message: string) => report?.({ kind: 'warning', message })
  const guest = new ExecGuest(container, {
    hello: helloOf(service, context),
    asRoot: delivery.placement.asRoot,
    onRestart: () =>
      warn(`the guest of service '${service.name}' was killed from inside; it is started again`),
  })
  const sandbox = new DockerGuestSandbox(container, guest, { strict: isStrict(service) })
  return new FallbackSandbox(sandbox, ({ message, cause }) =>
    warn(`${message} (${String((cause as Error)?.message ?? cause)}); the Engine's own exec is used`),
  )
}

function helloOf(service: ServicePlan, { image, delivery: { placement } }: OpenServiceContext): GuestHello {
  const { container } = service
  const asRoot = placement.kind !== 'engine' && placement.asRoot
  const user = asRoot ? (container.user ?? image.user) : ''
  const groups = container.hostConfig.GroupAdd
  return {
    cwd: workdirOf(service, image),
    exclusive: placement.kind === 'init' && !container.hostConfig.PidMode,
    ...(user && { user }),
    ...(Array.isArray(groups) && groups.length > 0 && { groups: groups.map(String) }),
  }
}

/** Under belljar's own hardening the container keeps for its guest what no command of it may have. */
function isStrict({ container }: ServicePlan): boolean {
  return container.strict === true
}
