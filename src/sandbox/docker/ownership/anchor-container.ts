import type { Duplex } from 'node:stream'
import type Docker from 'dockerode'
import { untilAborted } from '../../../util/abort.ts'
import { attachStream } from '../../guest/attach-stream.ts'
import { GuestConnection } from '../../guest/connection.ts'
import { createContainer } from '../container/create-container.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'

/** What the anchor runs: the guest alone, or a shell of some other image that ends with its input. */
export interface AnchorImage {
  readonly kind: 'guest' | 'shell'
  readonly id: string
}

export interface AnchorRequest {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly image: AnchorImage
  /** Default: none. */
  readonly network?: 'none' | 'host'
}

/** A container that ends with this process. */
export interface AnchorContainer {
  readonly id: string
  /** To the guest in it. */
  readonly connection?: GuestConnection
  /** Resolves when it has ended, or can no longer be known to run. */
  readonly lost: Promise<unknown>
  close(): void
}

const ANSWER_MS = 30_000

const SHELL = ['sh', '-c', 'while read line; do :; done']

function body({ image, labels, network = 'none' }: AnchorRequest): Docker.ContainerCreateOptions {
  return {
    Image: image.id,
    ...(image.kind === 'shell' && { Entrypoint: SHELL, Cmd: [], User: '0' }),
    Labels: { ...labels },
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    StopSignal: 'SIGKILL',
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      AutoRemove: true,
      NetworkMode: network,
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      LogConfig: { Type: 'none', Config: {} },
    },
  }
}

/** Starts an anchor and resolves when it answers. The host's hello waits in the stream for it. @throws EngineError, GuestLostError */
export async function startAnchor(engine: Engine, request: AnchorRequest): Promise<AnchorContainer> {
  const { name, labels } = request
  const id = await createContainer(engine, { name, body: body(request), labels })
  const socket = await attach(engine, id)
  const opening = request.image.kind === 'guest' ? guestAnchor(id, socket) : shellAnchor(id, socket)
  opening.catch(() => undefined)
  try {
    await call('starting the anchor', {}, (abortSignal) =>
      engine.control.getContainer(id).start({ abortSignal }),
    )
    return await untilAborted(opening, AbortSignal.timeout(ANSWER_MS))
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function guestAnchor(id: string, socket: Duplex): Promise<AnchorContainer> {
  const connection = await GuestConnection.open(attachStream(socket))
  return { id, connection, lost: connection.lost, close: () => connection.close() }
}

async function shellAnchor(id: string, socket: Duplex): Promise<AnchorContainer> {
  const lost = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined).resume()
  return { id, lost, close: () => socket.destroy() }
}

async function attach(engine: Engine, id: string): Promise<Duplex> {
  const options = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true }
  const socket = await call('attaching to the anchor', {}, () =>
    engine.streams.getContainer(id).attach(options),
  )
  return socket as Duplex
}
