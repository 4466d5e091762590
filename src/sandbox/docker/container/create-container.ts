import type Docker from 'dockerode'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { isConnectionError, statusOf } from '../engine/engine-error.ts'

const CREATE_DEADLINE_MS = 120_000

interface CreateRequest {
  readonly name: string
  readonly body: Docker.ContainerCreateOptions
  readonly labels: Readonly<Record<string, string>>
  readonly platform?: string | undefined
}

/** The id of a container of our own name that carries all our labels: an earlier create of ours whose answer was lost. */
async function ownContainer(engine: Engine, request: CreateRequest): Promise<string | undefined> {
  try {
    const info = await call('looking for a container', { deadlineMs: 10_000 }, (abortSignal) =>
      engine.control.getContainer(request.name).inspect({ abortSignal }),
    )
    const same = Object.entries(request.labels).every(([name, value]) => info.Config.Labels[name] === value)
    return same && info.State.Status === 'created' ? info.Id : undefined
  } catch {
    return undefined
  }
}

/**
 * Creates a container under a name chosen beforehand. It is not abortable: a create takes effect after its client is
 * gone, so it is awaited and then removed by identity.
 * @throws EngineError
 */
export async function createContainer(engine: Engine, request: CreateRequest): Promise<string> {
  const create = () =>
    call('creating a container', { deadlineMs: CREATE_DEADLINE_MS }, () =>
      engine.control.createContainer({
        ...request.body,
        name: request.name,
        ...(request.platform !== undefined && { platform: request.platform }),
      }),
    )
  try {
    return (await create()).id
  } catch (error) {
    if (statusOf(error) !== 409 && !isConnectionError(error)) throw error
    const existing = await ownContainer(engine, request)
    if (existing) return existing
    if (statusOf(error) === 409) throw error
    return (await create()).id
  }
}
