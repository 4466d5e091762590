import type Docker from 'dockerode'
import type { ObjectKind } from './reaper/messages.ts'

export interface CreateOwner {
  /** What an object with these labels carries beside them; the call waits for it. */
  labels(given: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>>
  /** Told before each create call; what it returns is called when that was answered. */
  creating(kind: ObjectKind, name: string): () => void
}

interface CreateOptions {
  readonly name?: string
  readonly Name?: string
  readonly Labels?: Readonly<Record<string, string>>
}

type Create = (options: CreateOptions) => Promise<unknown>

/**
 * Makes a client tell of each object before the call that creates it: none can be made unannounced. A create without
 * an answer stays announced, as it may take effect later.
 */
export function ownCreates(client: Docker, owner: CreateOwner): void {
  const owned = (kind: ObjectKind, create: Create): Create => {
    return async (options) => {
      const { Labels = {} } = options
      const added = await owner.labels(Labels)
      const answered = owner.creating(kind, options.name ?? options.Name ?? '')
      try {
        const made = await create.call(client, { ...options, Labels: { ...Labels, ...added } })
        answered()
        return made
      } catch (error) {
        if ((error as { statusCode?: number }).statusCode !== undefined) answered()
        throw error
      }
    }
  }
  client.createContainer = owned('container', client.createContainer as Create) as never
  client.createNetwork = owned('network', client.createNetwork as Create) as never
  client.createVolume = owned('volume', client.createVolume as Create) as never
}
