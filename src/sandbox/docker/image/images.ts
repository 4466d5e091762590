import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage, SandboxInitError } from '../../../errors.ts'
import type { ProviderContext } from '../../provider.ts'
import type { BuildPlan, ImagePlan } from '../../sandbox-plan.ts'
import { noteUse } from '../cache/note-use.ts'
import { removeImage } from '../cache/remove-image.ts'
import { isNoSpace, noSpaceError } from '../engine/disk-full.ts'
import type { Engine } from '../engine/engine.ts'
import { buildImage } from './build.ts'
import { buildHash } from './build-hash.ts'
import { type BuildxRequest, buildWithBuildx } from './buildx.ts'
import { inspectImage } from './inspect-image.ts'
import { checkPlatform } from './platform.ts'
import type { PreparedImage } from './prepared-image.ts'
import { programImage } from './program-image.ts'
import { type Clock, pullImage } from './pull.ts'
import { SharedFlights } from './shared-flights.ts'

const realClock: Clock = { sleep: (ms, signal) => sleep(ms, undefined, { signal }) }

/** Under which a build of a content is found again. */
export function imageTag(hash: string): string {
  return `belljar-cache:${hash}`
}

export interface PrepareContext extends ProviderContext {
  /** Of what is built. */
  readonly hash?: string | undefined
  /** Tag of the image that another service of the plan builds. */
  readonly imageOf?: (service: string) => string
}

export interface ImagesOptions {
  readonly clock?: Clock | undefined
  /** Refuses what is not built yet. */
  readonly noBuild?: boolean | undefined
}

/** One build or pull at a time of one image of one engine, in the whole process. */
const flights = new SharedFlights<void>()

/** Makes images present on an engine: pulled when absent, or built once for each content. */
export class Images {
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #noBuild: boolean
  /** References of the images that were pulled or built here. */
  readonly #made = new Set<string>()

  constructor(engine: Engine, { clock = realClock, noBuild = false }: ImagesOptions = {}) {
    this.#engine = engine
    this.#clock = clock
    this.#noBuild = noBuild
  }

  /** @throws SandboxInitError, ConfigError */
  async prepare(plan: ImagePlan, context: PrepareContext): Promise<PreparedImage> {
    if (plan.kind === 'egress') return this.#egress(context)
    const image =
      plan.kind === 'build' ? await this.#build(plan.build, context) : await this.#reference(plan, context)
    const wanted = plan.kind === 'build' ? plan.build.platform : plan.platform
    checkPlatform(image, wanted, this.#engine)
    return image
  }

  async #egress({ signal }: PrepareContext): Promise<PreparedImage> {
    const reference = await programImage(this.#engine, 'egress')
    if (reference !== undefined) return this.#mustBeThere(reference, signal)
    const { os, architecture } = this.#engine.facts
    throw new SandboxInitError(
      `the network allow-list cannot be enforced: belljar's egress program is not built for ${os}/${architecture} (install a C compiler, then npm run build)`,
    )
  }

  async #reference(
    plan: ImagePlan & { kind: 'reference' },
    context: ProviderContext,
  ): Promise<PreparedImage> {
    const { reference, pull, platform } = plan
    const present = await inspectImage(this.#engine, reference, context.signal)
    if (present && pull !== 'always') return present
    if (pull === 'never') {
      throw new SandboxInitError(
        `image ${reference} is not on the engine, and its pull policy is 'never': build or pull it first`,
      )
    }
    const key = `pull ${this.#engine.endpoint.url} ${reference} ${platform ?? ''}`
    await flights.run(key, context.signal, async (signal) => {
      // Another's pull may have ended between the look above and this one's start.
      if (pull === 'missing' && (await inspectImage(this.#engine, reference, signal))) return
      await pullImage(this.#engine, reference, {
        platform,
        signal,
        clock: this.#clock,
        report: (message) => context.report?.({ kind: 'pull', message }),
      })
      this.#made.add(reference)
    })
    return this.#mustBeThere(reference, context.signal)
  }

  /** Removes an image if it was made here and no container is made from it. Never throws. */
  async discard({ reference }: PreparedImage): Promise<boolean> {
    if (!this.#made.has(reference)) return false
    try {
      await removeImage(this.#engine, reference)
      return this.#made.delete(reference)
    } catch {
      return false
    }
  }

  /** Whether an image is on the engine still. */
  async isThere({ id }: PreparedImage): Promise<boolean> {
    return (await inspectImage(this.#engine, id)) !== undefined
  }

  /** Whether a build would be needed. */
  async isBuilt(hash: string, signal?: AbortSignal): Promise<boolean> {
    return (await inspectImage(this.#engine, imageTag(hash), signal)) !== undefined
  }

  async #build(plan: BuildPlan, context: PrepareContext): Promise<PreparedImage> {
    const { hash } = context
    if (!hash) throw new SandboxInitError('a build without its content hash')
    const tag = imageTag(hash)
    const key = `build ${this.#engine.endpoint.url} ${hash}`
    await flights.run(key, context.signal, async (signal) => {
      if (await inspectImage(this.#engine, tag, signal)) return
      if (!plan.buildx && (await buildHash(plan)) !== hash) {
        throw new SandboxInitError(`the build folder ${plan.context} has changed since the task was read`)
      }
      if (this.#noBuild) {
        throw new SandboxInitError(`the image of ${plan.context} is not built, and nothing may be built`)
      }
      const { report, imageOf = () => '' } = context
      const request = { plan, hash, tag, signal, report }
      if (plan.buildx) await this.#buildWithBuildx({ ...request, imageOf })
      else await buildImage(this.#engine, request)
      this.#made.add(tag)
    })
    await noteUse(this.#engine, tag)
    return this.#mustBeThere(tag, context.signal)
  }

  async #buildWithBuildx(request: BuildxRequest): Promise<void> {
    try {
      await buildWithBuildx(request, this.#engine.endpoint.url)
    } catch (error) {
      const message = errorMessage(error)
      throw isNoSpace(message) ? await noSpaceError(this.#engine, message, error) : error
    }
  }

  async #mustBeThere(reference: string, signal: AbortSignal | undefined): Promise<PreparedImage> {
    const image = await inspectImage(this.#engine, reference, signal)
    if (image) return image
    throw new SandboxInitError(`image ${reference} is not on the engine although it was just made`, {
      transient: true,
    })
  }
}
