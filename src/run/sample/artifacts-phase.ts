import { rm } from 'node:fs/promises'
import { untilAborted } from '../../util/abort.ts'
import { deadline } from '../../util/deadline.ts'
import {
  DEFAULT_MAX_ARTIFACT_BYTES,
  type TakenArtifact,
  takeArtifacts,
  temporaryFolder,
} from './artifacts.ts'
import type { SampleLife } from './sample-life.ts'
import type { Stage } from './sample-runner.ts'

const TAKE_TIMEOUT_MS = 600_000

/** What was taken out of an agent's sandbox, on this host for as long as the attempt lives, or for good. */
export class SampleArtifacts {
  readonly #life: SampleLife
  #folder: string | undefined
  #isKept = false

  constructor(life: SampleLife) {
    this.#life = life
  }

  /** Takes what the task and the sample declare, once. */
  async take(stage: Stage): Promise<readonly TakenArtifact[]> {
    const { options, sandbox, signal } = stage
    const { definition } = options.task.task
    const names = [...(definition.artifacts ?? []), ...(this.#life.run.planned.sample.artifacts ?? [])]
    if (names.length === 0 || !sandbox || this.#life.artifacts) return []
    const folder = await this.#makeFolder(stage)
    using time = deadline(signal, TAKE_TIMEOUT_MS, 'taking the artifacts')
    const taking = takeArtifacts(names, {
      services: sandbox.services,
      default: sandbox.default,
      folder,
      maxBytes: definition.maxArtifactBytes ?? DEFAULT_MAX_ARTIFACT_BYTES,
      signal: time.signal,
    })
    const { taken, records } = await untilAborted(taking, time.signal)
    this.#life.artifacts = records
    for (const { name, status, why } of records)
      if (status === 'too-large' || status === 'refused')
        options.warn(`artifact ${name} was not taken (${status}): ${why ?? ''}`, this.#life.run)
    return taken
  }

  /** Removes what is not to be kept. */
  async end(which: 'none' | 'failed' | 'all'): Promise<void> {
    const isWanted = which === 'all' || (which === 'failed' && this.#life.failed)
    if (this.#folder === undefined || (this.#isKept && isWanted)) return
    await rm(this.#folder, { recursive: true, force: true }).catch(() => undefined)
  }

  async #makeFolder({ options }: Stage): Promise<string> {
    const beside = options.keepArtifacts === 'none' ? undefined : options.artifactFolder(this.#life.run)
    this.#isKept = beside !== undefined
    this.#folder = beside ?? (await temporaryFolder())
    return this.#folder
  }
}
