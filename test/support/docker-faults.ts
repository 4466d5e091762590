import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createConnection } from 'node:net'
import type { Duplex } from 'node:stream'

/** What happens to a call instead of its plain answer. */
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
  | { readonly kind: 'hang' }
  /** The call takes effect; its answer cannot be read. */
  | { readonly kind: 'garbage' }
  /** The Engine gets the call twice; the client has the answer to the second. */
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }

/** Sends a call on to the engine at `target`, with a fault or without. */
export function passOn(
  call: IncomingMessage,
  reply: ServerResponse,
  { target, fault }: { target: string; fault: Fault | undefined },
): void {
  switch (fault?.kind) {
    case 'hang':
      return void call.resume()
    case 'drop-before':
      return void call.destroy()
    case 'answer':
      call.resume()
      reply.writeHead(fault.status, { 'content-type': 'application/json' })
      return void reply.end(fault.body)
    case 'duplicate':
      return void twice(call, reply, target)
    case 'delay-call':
      return void setTimeout(() => forward(call, reply, { target, fault }), fault.ms)
    default:
      forward(call, reply, { target, fault })
  }
}

function toEngine({ method, url: path, headers }: IncomingMessage, target: string) {
  return { socketPath: target, method, path, headers, agent: false } as const
}

function forward(
  call: IncomingMessage,
  reply: ServerResponse,
  { target, fault }: { target: string; fault: Fault | undefined },
): void {
  const forwarded = request(toEngine(call, target), (answer) => {
    if (fault?.kind === 'drop-after') answer.resume().on('end', () => call.destroy())
    else if (fault?.kind === 'garbage') answer.resume().on('end', () => garble(reply))
    else if (fault?.kind === 'delay-reply') setTimeout(() => answerWith(reply, answer), fault.ms)
    else if (fault?.kind === 'reset') breakOff(reply, answer, fault.afterBytes)
    else answerWith(reply, answer)
  })
  forwarded.on('error', () => reply.destroy())
  if (!fault) reply.on('close', () => forwarded.destroy())
  call.pipe(forwarded)
}

function answerWith(reply: ServerResponse, answer: IncomingMessage): void {
  reply.writeHead(answer.statusCode ?? 502, answer.headers)
  reply.flushHeaders()
  answer.on('error', () => reply.destroy()).pipe(reply)
}

function garble(reply: ServerResponse): void {
  reply.socket?.end('\u0000\u0001 no HTTP at all \r\n\r\n{"message": ')
}

function breakOff(reply: ServerResponse, answer: IncomingMessage, afterBytes: number): void {
  let left = afterBytes
  reply.writeHead(answer.statusCode ?? 502, answer.headers)
  reply.flushHeaders()
  answer.on('error', () => reply.destroy())
  answer.on('end', () => reply.destroy())
  answer.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, left)
    left -= part.length
    if (part.length > 0) reply.write(part)
    if (left === 0) setImmediate(() => reply.destroy())
  })
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

/** Byte by byte, as the body of such a call may come at any time. Returns both ends. */
export function tunnel(
  { method, url, rawHeaders }: IncomingMessage,
  client: Duplex,
  { target, head, fault }: { target: string; head: Buffer; fault: Fault | undefined },
): readonly Duplex[] {
  if (fault?.kind === 'drop-before' || fault?.kind === 'answer') {
    client.destroy()
    return []
  }
  const engine = createConnection({ path: target, allowHalfOpen: true })
  const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  // In one write, as the client sent it: the Engine takes what follows the end of an empty body for input.
  const start = Buffer.from(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`)
  engine.write(Buffer.concat([start, head]))
  client.pipe(engine).pipe(client)
  if (fault?.kind === 'reset') {
    let seen = 0
    engine.on('data', (chunk: Buffer) => {
      seen += chunk.length
      if (seen > fault.afterBytes) client.destroy()
    })
  }
  for (const [one, other] of [
    [client, engine],
    [engine, client],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
  }
  return [client, engine]
}
