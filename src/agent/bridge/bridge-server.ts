import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { errorMessage } from '../../errors.ts'
import type { ModelOutput } from '../model.ts'
import { type Api, type ApiCall, ApiError, type ApiEvent } from './api/api.ts'
import { openaiChat } from './api/openai-chat.ts'
import { type Route, routeOf } from './routes.ts'

const BODY_MAX = 64 * 1024 * 1024
/** After so long an answer that is to be streamed begins with signs of life, and its errors come as events. */
const PATIENCE_MS = 5000
const PING_MS = 10_000

export interface BridgeServerOptions {
  /** @throws ApiError for what the program is to be told */
  readonly generate: (call: ApiCall, signal: AbortSignal) => Promise<ModelOutput>
  readonly models: () => readonly string[]
}

/** Speaks the protocols of model providers on connections that it is handed. */
export class BridgeServer {
  readonly #server: Server
  readonly #options: BridgeServerOptions

  constructor(options: BridgeServerOptions) {
    this.#options = options
    this.#server = createServer({ requestTimeout: 0, keepAliveTimeout: 600_000 }, (request, response) => {
      void this.#serve(request, response).catch(() => response.destroy())
    })
  }

  serve(connection: Duplex): void {
    this.#server.emit('connection', connection)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://bridge')
    const route = routeOf(request.method ?? '', pathname)
    const api = route && 'api' in route ? route.api : openaiChat
    const gone = new AbortController()
    response.once('close', () => gone.abort(new Error('the program closed the connection')))
    try {
      if (!route) throw new ApiError(404, `there is nothing at ${request.method} ${pathname}`)
      await this.#answer(route, { request, response, signal: gone.signal })
    } catch (error) {
      if (response.headersSent) response.destroy()
      else sendError(response, api, toApiError(error))
    }
  }

  async #answer(route: Route, exchange: Exchange): Promise<void> {
    const { request, response, signal } = exchange
    if (route.kind === 'alive') send(response, 200, { status: 'ok' })
    else if (route.kind === 'models') send(response, 200, modelList(this.#options.models()))
    else if (route.kind === 'count') {
      const body = JSON.stringify(await readBody(request))
      send(response, 200, { [route.field]: Math.ceil(body.length / 4) })
    } else {
      const call = route.api.parse(await readBody(request), route.target)
      const output = this.#options.generate(call, signal)
      if (call.stream) await stream(route.api, call, { output, response })
      else send(response, 200, route.api.render(await output, call))
    }
  }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly signal: AbortSignal
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > BODY_MAX) throw new ApiError(413, `a request may have ${BODY_MAX} bytes at most`)
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch (error) {
    throw new ApiError(400, `the body is no JSON: ${errorMessage(error)}`, { cause: error })
  }
}

/** Events once the answer is there; where it takes long, comments before them, which readers of events pass over. */
async function stream(
  api: Api,
  call: ApiCall,
  { output, response }: { output: Promise<ModelOutput>; response: ServerResponse },
): Promise<void> {
  const settled = new AbortController()
  const done = output.finally(() => settled.abort())
  await Promise.race([done, pause(PATIENCE_MS, undefined, { signal: settled.signal }).catch(() => undefined)])
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const pings = setInterval(() => response.write(': waiting for the model\n\n'), PING_MS)
  try {
    for (const event of api.events(await done, call)) response.write(eventText(event))
  } catch (error) {
    response.write(eventText({ event: 'error', data: api.error(toApiError(error)) }))
  } finally {
    clearInterval(pings)
    response.end()
  }
}

function eventText({ event, data }: ApiEvent): string {
  const head = event === undefined ? '' : `event: ${event}\n`
  return `${head}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(500, errorMessage(error), { cause: error })
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Programs are told not to try again what would only be refused again. */
function sendError(response: ServerResponse, api: Api, error: ApiError): void {
  response.setHeader('x-should-retry', 'false')
  send(response, error.status, api.error(error))
}

/** A list that both OpenAI's and Google's readers take. */
function modelList(names: readonly string[]): unknown {
  return {
    object: 'list',
    data: names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'belljar', type: 'model' })),
    models: names.map((name) => ({ name: `models/${name}`, displayName: name })),
  }
}
