import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FakeAnswer, FakeProtocol, FakeRequestBody } from './answer.ts'
import { anthropic } from './anthropic.ts'
import { google } from './google.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

export interface FakeRequest {
  readonly protocol: keyof typeof PROTOCOLS
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: FakeRequestBody
  /** How many came before. */
  readonly index: number
}

/** What goes wrong instead of an answer, or before it. */
export type FakeFault =
  | {
      readonly fault: 'status'
      readonly status: number
      readonly headers?: Record<string, string>
      readonly message?: string
      readonly body?: object
    }
  /** Never answers. */
  | { readonly fault: 'hang' }
  | { readonly fault: 'slow-headers'; readonly ms: number; readonly answer: FakeAnswer }
  /** Closes the connection before the answer, or in the middle of it. */
  | { readonly fault: 'drop' }
  | { readonly fault: 'drop-body' }
  /** Status 200 with whatever text. */
  | { readonly fault: 'raw'; readonly body: string }

export type FakeReply = FakeAnswer | FakeFault

export interface FakeModelServer extends AsyncDisposable {
  /** Without a path: `/v1/chat/completions`, `/v1/responses`, `/v1/messages` and `/v1beta/models/..` are served. */
  readonly url: string
  readonly requests: readonly FakeRequest[]
  /** Connections that the other side closed before they were answered. */
  readonly hungUp: number
  /** Calls being answered now, and the most there were. */
  readonly atOnce: { readonly now: number; readonly most: number }
}

const PROTOCOLS = { openaiChat, openaiResponses, anthropic, google } satisfies Record<string, FakeProtocol>

/** A server that speaks the protocols of four providers and answers as told; or in order, the last answer for all that follow. */
export async function fakeModelServer(
  replies: readonly FakeReply[] | ((request: FakeRequest) => FakeReply | Promise<FakeReply>),
): Promise<FakeModelServer> {
  const requests: FakeRequest[] = []
  const atOnce = { now: 0, most: 0 }
  let hungUp = 0
  const reply =
    typeof replies === 'function'
      ? replies
      : ({ index }: FakeRequest) => replies[Math.min(index, replies.length - 1)]!
  const server = createServer((incoming, outgoing) => {
    atOnce.most = Math.max(atOnce.most, ++atOnce.now)
    outgoing.once('close', () => {
      atOnce.now--
      if (!outgoing.writableFinished) hungUp++
    })
    void readRequest(incoming, requests.length)
      .then(async (request) => {
        if (!request) return outgoing.writeHead(404).end()
        requests.push(request)
        await answer(outgoing, request, await reply(request))
      })
      .catch((error: unknown) => outgoing.destroy(error as Error))
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    atOnce,
    get hungUp() {
      return hungUp
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readRequest(incoming: IncomingMessage, index: number): Promise<FakeRequest | undefined> {
  const { url: path = '', headers } = incoming
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const protocol = protocolOf(path)
  if (!protocol) return undefined
  const body = JSON.parse(Buffer.concat(chunks).toString()) as FakeRequestBody
  const isStream = body.stream === true || path.includes(':streamGenerateContent')
  return { protocol, path, headers, body: { ...body, stream: isStream }, index }
}

function protocolOf(url: string): keyof typeof PROTOCOLS | undefined {
  const [path = ''] = url.split('?')
  if (path.endsWith('/chat/completions')) return 'openaiChat'
  if (path.endsWith('/responses')) return 'openaiResponses'
  if (path.endsWith('/messages')) return 'anthropic'
  return /:(stream)?[gG]enerateContent/.test(path) ? 'google' : undefined
}

async function answer(outgoing: ServerResponse, request: FakeRequest, reply: FakeReply): Promise<void> {
  if ('fault' in reply) return fail(outgoing, request, reply)
  const protocol = PROTOCOLS[request.protocol]
  if (!request.body.stream) {
    outgoing.writeHead(200, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify(protocol.body(reply, request.body)))
    return
  }
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const [name, data] of protocol.events(reply, request.body)) {
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    outgoing.write(`${name === '' ? '' : `event: ${name}\n`}data: ${text}\n\n`)
  }
  outgoing.end()
}

async function fail(outgoing: ServerResponse, request: FakeRequest, fault: FakeFault): Promise<void> {
  switch (fault.fault) {
    case 'hang':
      return
    case 'drop':
      outgoing.destroy()
      return
    case 'drop-body':
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
      outgoing.write('{"id":"half')
      await sleep(20)
      outgoing.destroy()
      return
    case 'raw':
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(fault.body)
      return
    case 'slow-headers':
      await sleep(fault.ms)
      return answer(outgoing, request, fault.answer)
    default: {
      const { status, headers = {}, message = `status ${status}`, body } = fault
      const text = JSON.stringify(body ?? PROTOCOLS[request.protocol].error(status, message))
      outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
    }
  }
}
