import type { GuestConnection } from './connection.ts'
import { FieldReader, fieldNumber } from './fields.ts'
import { InputSender, OutputReceiver } from './flow.ts'
import { onAbort } from './on-abort.ts'
import { Channel, FrameType, Tag } from './protocol.ts'

const OUTPUT_WINDOW = 4 * 1024 * 1024

export interface FileRequest {
  readonly type: number
  readonly fields: Buffer
  readonly signal?: AbortSignal | undefined
  /** Content to send; a source that fails cancels the request. */
  readonly content?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  /** Takes the data that comes; without it there is none. A reader that fails cancels the request. */
  readonly receive?: (data: AsyncIterable<Uint8Array>) => Promise<void>
}

export const STREAM_CREDIT = OUTPUT_WINDOW

/** Sends one file request with its content and takes its data; returns the payload of the answer. */
export async function fileExchange(connection: GuestConnection, request: FileRequest): Promise<Buffer> {
  const { signal } = request
  signal?.throwIfAborted()
  const failure: { error?: unknown } = {}
  const parts = openExchange(connection, request)
  const fail = (error: unknown) => {
    if (parts.refused()) return // the answer says why
    failure.error ??= error
    parts.exchange.send(FrameType.cancel)
  }
  const aborting = onAbort(signal, () => fail(signal?.reason))
  try {
    const reading = request.receive?.(parts.output).catch(fail)
    const sending = sendContent(parts.sender, request.content).catch(fail)
    const answer = await parts.answer
    parts.sender.stop()
    await Promise.all([reading, sending])
    if ('error' in failure) throw failure.error
    return answer
  } finally {
    aborting[Symbol.dispose]()
  }
}

function openExchange(connection: GuestConnection, request: FileRequest) {
  let settle!: (payload: Buffer) => void
  let reject!: (error: Error) => void
  let refused = false
  const answer = new Promise<Buffer>((resolve, fail) => {
    settle = resolve
    reject = fail
  })
  const sender = new InputSender(connection.welcome.window, (type, payload) => exchange.send(type, payload))
  const output = new OutputReceiver(OUTPUT_WINDOW, (bytes) => {
    const payload = Buffer.alloc(9)
    payload[0] = Channel.stdout
    payload.writeBigUInt64LE(BigInt(bytes), 1)
    exchange.send(FrameType.credit, payload)
  })
  const exchange = connection.open(request.type, request.fields, {
    frame: (frame) => {
      if (frame.type === FrameType.data) output.push(frame.payload.subarray(1))
      else if (frame.type === FrameType.credit) sender.grant(fieldNumber(frame.payload.subarray(1)))
      else if (frame.type === FrameType.result) {
        exchange.end()
        refused = new FieldReader(frame.payload).has(Tag.error)
        output.end(refused ? new Error('the request failed') : undefined)
        settle(frame.payload)
      }
    },
    lost: (error) => {
      sender.stop(error)
      output.end(error)
      reject(error)
    },
  })
  return { exchange, sender, output, answer, refused: () => refused }
}

async function sendContent(sender: InputSender, content: FileRequest['content']): Promise<void> {
  if (!content) return
  for await (const chunk of content) {
    await sender.write(chunk)
    if (sender.stopped) return
  }
  await sender.end()
}
