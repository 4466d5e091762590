import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** What happens to a call instead of its plain answer. Of a call that is upgraded, the answer is the first that comes back. */
export type Fault =
  | { readonly kind: 'delay-reply'; readonly ms: number }
  /** The call reaches the Engine late. */
  | { readonly kind: 'delay-call'; readonly ms: number }
  /** The call takes effect; its client is cut off. */
  | { readonly kind: 'drop-after' }
  /** The call takes no effect; its client is cut off. */
  | { readonly kind: 'drop-before' }
  /** The answer, or the stream, breaks off after so many bytes. */
  | { readonly kind: 'reset'; readonly afterBytes: number }
  /** The answer, or the stream, ends in good order after so many bytes. */
  | { readonly kind: 'truncate'; readonly afterBytes: number }
  /** The answer, or the stream, comes to a halt after so many bytes and stays open. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  /** The call takes no effect and is never answered. */
  | { readonly kind: 'hang' }
  /** The answer comes in pieces of so many bytes, each after a pause. */
  | { readonly kind: 'slow'; readonly bytes: number; readonly ms: number }
  /** The call takes effect; its answer cannot be read. */
  | { readonly kind: 'garbage' }
  /** The Engine gets the call twice; the client has the answer to the second. */
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }

export const GARBAGE = '\u0000\u0001 no HTTP at all \r\n\r\n{"message": '

interface Passing {
  /** Socket of the engine. */
  readonly target: string
  readonly fault: Fault | undefined
}

/** Sends a call on to the engine, with a fault or without. */
export function passOn(call: IncomingMessage, reply: ServerResponse, passing: Passing): void {
  const { target, fault } = passing
  switch (fault?.kind) {
    case 'hang':
      return void call.resume()
    case 'drop-before':
      return void call.socket.destroy()
    case 'answer':
      call.resume()
      reply.writeHead(fault.status, { 'content-type': 'application/json' })
      return void reply.end(fault.body)
    case 'duplicate':
      return void twice(call, reply, target)
    case 'delay-call':
      return void setTimeout(() => forward(call, reply, passing), fault.ms)
    default:
      forward(call, reply, passing)
  }
}

function toEngine({ method, url: path, headers }: IncomingMessage, target: string) {
  return { socketPath: target, method, path, headers, agent: false } as const
}

function forward(call: IncomingMessage, reply: ServerResponse, { target, fault }: Passing): void {
  const forwarded = request(toEngine(call, target), (answer) => {
    answer.on('error', () => reply.destroy())
    if (fault?.kind === 'drop-after') answer.resume().on('end', () => call.socket.destroy())
    else if (fault?.kind === 'garbage') answer.resume().on('end', () => reply.socket?.end(GARBAGE))
    else if (fault?.kind === 'delay-reply') setTimeout(() => answerWith(reply, answer), fault.ms)
    else if (fault?.kind === 'slow') void answerSlowly(reply, answer, fault)
    else if (fault && 'afterBytes' in fault) breakOff(reply, answer, fault)
    else answerWith(reply, answer)
  })
  forwarded.on('error', () => reply.destroy())
  if (!fault) reply.on('close', () => forwarded.destroy())
  call.pipe(forwarded)
}

function answerWith(reply: ServerResponse, answer: IncomingMessage): void {
  reply.writeHead(answer.statusCode ?? 502, answer.headers)
  reply.flushHeaders()
  answer.pipe(reply)
}

/** Without the length of the body, which is not what was announced. */
function beginAnswer(reply: ServerResponse, { statusCode = 502, headers }: IncomingMessage): void {
  const { 'content-length': _length, ...others } = headers
  reply.writeHead(statusCode, others)
  reply.flushHeaders()
}

const ENDINGS = {
  reset: (reply: ServerResponse) => reply.destroy(),
  truncate: (reply: ServerResponse) => reply.end(),
  stall: () => undefined,
} as const

function breakOff(
  reply: ServerResponse,
  answer: IncomingMessage,
  { kind, afterBytes }: Extract<Fault, { afterBytes: number }>,
): void {
  let left = afterBytes
  beginAnswer(reply, answer)
  answer.on('end', () => ENDINGS[kind](reply))
  answer.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, left)
    left -= part.length
    if (part.length > 0) reply.write(part)
    if (left === 0) setImmediate(() => ENDINGS[kind](reply))
  })
}

async function answerSlowly(
  reply: ServerResponse,
  answer: IncomingMessage,
  { bytes, ms }: Extract<Fault, { kind: 'slow' }>,
): Promise<void> {
  beginAnswer(reply, answer)
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      for (const piece of piecesOf(chunk, bytes)) {
        await pause(ms)
        reply.write(piece)
      }
    }
    reply.end()
  } catch {
    reply.destroy()
  }
}

export function piecesOf(chunk: Buffer, bytes: number): Buffer[] {
  const count = Math.ceil(chunk.length / bytes)
  return Array.from({ length: count }, (_, index) => chunk.subarray(index * bytes, (index + 1) * bytes))
}

async function twice(call: IncomingMessage, reply: ServerResponse, target: string): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of call) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const { 'transfer-encoding': _chunked, ...headers } = call.headers
  const options = { ...toEngine(call, target), headers: { ...headers, 'content-length': body.length } }
  const first = request(options, (answer) => {
    answer.resume().on('end', () => {
      request(options, (second) => answerWith(reply, second))
        .on('error', () => reply.destroy())
        .end(body)
    })
  })
  first.on('error', () => reply.destroy()).end(body)
}
