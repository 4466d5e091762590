import type { Readable } from 'node:stream'
import type { ServiceLog } from '../../provider.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { Demuxer } from '../exec/demuxer.ts'
import { TailBuffer } from '../exec/tail-buffer.ts'

export interface LoggedContainer {
  readonly id: string
  readonly service: string
  /** From 1: which of the service's containers. */
  readonly number: number
}

/** Of one container; what came before is left out. */
const KEPT_BYTES = 1024 * 1024
/** The engine sends a log from its beginning: no more than so many lines of it. */
const LINES = 50_000
const DEADLINE_MS = 5000

/** What the main processes of containers have printed, with the time of each line. Never throws: what cannot be read is left out, and so is what printed nothing. */
export async function serviceLogs(
  engine: Engine,
  containers: readonly LoggedContainer[],
): Promise<ServiceLog[]> {
  const logs = await Promise.all(containers.map((container) => oneLog(engine, container)))
  return logs.filter((log) => log !== undefined)
}

async function oneLog(engine: Engine, container: LoggedContainer): Promise<ServiceLog | undefined> {
  const tail = new TailBuffer(KEPT_BYTES)
  await readLog(engine, container.id, tail).catch(() => undefined)
  if (tail.totalBytes === 0) return undefined
  const { service, number } = container
  return { service, number, text: tail.text(), omittedBytes: Math.max(0, tail.totalBytes - KEPT_BYTES) }
}

async function readLog(engine: Engine, id: string, tail: TailBuffer): Promise<void> {
  const options = { deadlineMs: DEADLINE_MS }
  const info = await call('state of a container', options, (abortSignal) =>
    engine.control.getContainer(id).inspect({ abortSignal }),
  )
  if (info.HostConfig.LogConfig?.Type === 'none') return
  const stream = await call('logs', options, () => openLog(engine, id))
  const late = setTimeout(() => stream.destroy(), DEADLINE_MS)
  const demuxer = new Demuxer((_stream, payload) => tail.write(payload))
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (info.Config.Tty) tail.write(chunk)
      else demuxer.push(chunk)
    }
  } finally {
    clearTimeout(late)
    stream.destroy()
  }
}

/** dockerode's own call reads a log that is not followed into memory, whole. */
function openLog(engine: Engine, id: string): Promise<Readable> {
  const request = {
    path: `/containers/${id}/logs?`,
    method: 'GET',
    isStream: true,
    options: { stdout: true, stderr: true, timestamps: true, tail: String(LINES) },
    statusCodes: { 200: true, 101: true, 404: 'no such container', 500: 'server error' },
  }
  return new Promise((resolve, reject) => {
    engine.streams.modem.dial(request as never, (error: unknown, stream: unknown) =>
      error ? reject(error) : resolve(stream as Readable),
    )
  })
}
