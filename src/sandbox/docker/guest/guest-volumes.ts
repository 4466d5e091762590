import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { pack } from 'tar-stream'
import { createContainer } from '../container/create-container.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { OWNER_LABEL, RUN_LABEL } from '../identity/labels.ts'
import { owner } from '../identity/owner.ts'
import { removeObjects } from '../remove.ts'
import { GUEST_FOLDER, GUEST_NAME } from './paths.ts'

/** One volume for each run, which holds the guest; made when the first sandbox needs it. It carries the run's label and goes with the run. */
export class GuestVolumes {
  readonly #engine: Engine
  readonly #binaryPath: string
  readonly #made = new Map<string, Promise<string>>()
  #binary: Promise<Buffer> | undefined

  constructor(engine: Engine, binaryPath: string) {
    this.#engine = engine
    this.#binaryPath = binaryPath
  }

  /** The volume's name. It is filled through a container of whatever image is at hand, which is never started. @throws EngineError */
  forRun(run: string, imageId: string): Promise<string> {
    const known = this.#made.get(run)
    if (known !== undefined) return known
    const made = this.#make(run, imageId)
    this.#made.set(run, made)
    made.catch(() => this.forget(run))
    return made
  }

  /** The volume was found missing. */
  forget(run: string): void {
    this.#made.delete(run)
  }

  /** To be called before the run's objects are removed: a volume that is being made is there to be found when this resolves. */
  async end(run: string): Promise<void> {
    const made = this.#made.get(run)
    this.#made.delete(run)
    await made?.catch(() => undefined)
  }

  async #make(run: string, imageId: string): Promise<string> {
    this.#binary ??= readFile(this.#binaryPath)
    const binary = await this.#binary
    const name = `belljar-guest-${randomBytes(8).toString('hex')}`
    const labels = guestLabels(run)
    try {
      await call('creating the guest volume', {}, () =>
        this.#engine.control.createVolume({ Name: name, Labels: labels }),
      )
      await this.#fill({ name, labels, imageId, binary })
      return name
    } catch (error) {
      await removeObjects(this.#engine, [{ kind: 'volume', id: name, name }])
      throw error
    }
  }

  async #fill(volume: VolumeToFill): Promise<void> {
    const { name, labels, imageId, binary } = volume
    const body = {
      Image: imageId,
      Entrypoint: ['never-started'],
      Labels: labels,
      HostConfig: { NetworkMode: 'none', Mounts: [{ Type: 'volume', Source: name, Target: GUEST_FOLDER }] },
    }
    const filler = `${name}-fill`
    const id = await createContainer(this.#engine, { name: filler, body: body as never, labels })
    try {
      const archive = pack()
      archive.entry({ name: GUEST_NAME, mode: 0o755 }, binary)
      archive.finalize()
      await call('filling the guest volume', {}, (abortSignal) =>
        this.#engine.streams
          .getContainer(id)
          .putArchive(archive as unknown as NodeJS.ReadableStream, { path: GUEST_FOLDER, abortSignal }),
      )
    } finally {
      await removeObjects(this.#engine, [{ kind: 'container', id, name: filler }])
    }
  }
}

interface VolumeToFill {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly imageId: string
  readonly binary: Buffer
}

function guestLabels(run: string): Record<string, string> {
  return { [RUN_LABEL]: run, [OWNER_LABEL]: owner() }
}

/** How a service mounts it. Were the volume gone, the Engine would make it anew and empty: then at least with labels. */
export function guestMount(volume: string, run: string): Record<string, unknown> {
  return {
    Type: 'volume',
    Source: volume,
    Target: GUEST_FOLDER,
    ReadOnly: true,
    VolumeOptions: { NoCopy: true, Labels: guestLabels(run) },
  }
}
