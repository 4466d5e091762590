import PQueue from 'p-queue'
import { ConfigError } from '../../../errors.ts'
import { linkedController } from '../../../util/linked-controller.ts'
import type { ProviderContext } from '../../provider.ts'
import type { SandboxPlan } from '../../sandbox-plan.ts'
import { type Images, imageTag } from './images.ts'
import type { PreparedImage } from './prepared-image.ts'

/** Of one configuration; several are prepared at the same time. */
const AT_ONCE = 4

export interface PrepareRequest {
  readonly plan: SandboxPlan
  /** Content hash by service, for those that are built. */
  readonly buildHashes: Readonly<Record<string, string>>
}

/** Services whose images others are built from come first. */
function contextsOf(plan: SandboxPlan, service: string): string[] {
  const image = plan.services.find(({ name }) => name === service)?.image
  const contexts = image?.kind === 'build' ? Object.values(image.build.buildx?.contexts ?? {}) : []
  return contexts.flatMap((source) =>
    source.startsWith('service:') ? [source.slice('service:'.length)] : [],
  )
}

/** Makes the images of all services present, some at a time. The first failure ends the others. @throws SandboxInitError, ConfigError */
export async function prepareImages(
  images: Images,
  { plan, buildHashes }: PrepareRequest,
  context: ProviderContext,
): Promise<ReadonlyMap<string, PreparedImage>> {
  using ending = linkedController(context.signal)
  const queue = new PQueue({ concurrency: AT_ONCE })
  const flights = new Map<string, Promise<PreparedImage>>()
  const imageOf = (service: string) => imageTag(buildHashes[service] ?? '')
  const prepare = (name: string): Promise<PreparedImage> => {
    const known = flights.get(name)
    if (known !== undefined) return known
    const flight = Promise.all(contextsOf(plan, name).map(prepare)).then(() =>
      queue.add(async () => {
        const service = plan.services.find((other) => other.name === name)
        if (!service) throw new ConfigError(`a build uses the image of '${name}', which is no service`)
        const { signal } = ending
        return images.prepare(service.image, { ...context, signal, hash: buildHashes[name], imageOf })
      }),
    )
    flights.set(name, flight)
    flight.catch((error: unknown) => ending.abort(error))
    return flight
  }
  const names = plan.services.map(({ name }) => name)
  await Promise.allSettled(names.map(prepare))
  if (ending.signal.aborted) throw ending.signal.reason
  const entries = names.map(async (name) => [name, await prepare(name)] as const)
  return new Map(await Promise.all(entries))
}
