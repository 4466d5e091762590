import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { ENGINE_SOCKET } from './docker-socket-proxy.ts'

/** What happens to a call instead of its plain answer. */
export type Fault =
  | { readonly kind: 'delay-reply'; readonly ms: number }
  /** The call takes effect; its client is cut off. */
  | { readonly kind: 'drop-after' }
  /** The call takes no effect; its client is cut off. */
  | { readonly kind: 'drop-before' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }

export interface FaultRule {
  readonly method: string
  /** Of the path without its version, query included. */
  readonly path: RegExp
  readonly fault: Fault
  /** How many calls it is for (default: all). */
  readonly times?: number
}

/** The Engine behind a unix socket on which chosen calls go wrong. Calls that turn into streams are passed on as they are. */
export class DockerProxy implements AsyncDisposable {
  readonly path: string
  /** `METHOD /path` of the calls that a rule was for, as they came. */
  readonly hits: string[] = []
  readonly #target: string
  readonly #server: Server
  readonly #rules: { rule: FaultRule; left: number }[]
  readonly #tunnels = new Set<Duplex>()

  private constructor(path: string, target: string, rules: readonly FaultRule[]) {
    this.path = path
    this.#target = target
    this.#rules = rules.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }))
    this.#server = createServer((call, reply) => this.#handle(call, reply))
    this.#server.on('upgrade', (call, socket, head) => this.#tunnel(call, socket, head))
  }

  static async start(rules: readonly FaultRule[], target = ENGINE_SOCKET): Promise<DockerProxy> {
    const folder = await mkdtemp(join(tmpdir(), 'belljar-docker-proxy-'))
    const proxy = new DockerProxy(join(folder, 'docker.sock'), target, rules)
    await new Promise<void>((resolve) => proxy.#server.listen(proxy.path, resolve))
    return proxy
  }

  /** As DOCKER_HOST has it. */
  get host(): string {
    return `unix://${this.path}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    for (const tunnel of this.#tunnels) tunnel.destroy()
    this.#server.close()
    await rm(dirname(this.path), { recursive: true, force: true })
  }

  #faultFor({ method = '', url = '' }: IncomingMessage): Fault | undefined {
    const path = url.replace(/^\/v[\d.]+/, '')
    const found = this.#rules.find(
      ({ rule, left }) => left > 0 && rule.method === method && rule.path.test(path),
    )
    if (!found) return undefined
    found.left -= 1
    this.hits.push(`${method} ${path}`)
    return found.rule.fault
  }

  #handle(call: IncomingMessage, reply: ServerResponse): void {
    const fault = this.#faultFor(call)
    if (fault?.kind === 'hang') return void call.resume()
    if (fault?.kind === 'drop-before') return void call.destroy()
    if (fault?.kind === 'answer') {
      call.resume()
      reply.writeHead(fault.status, { 'content-type': 'application/json' })
      return void reply.end(fault.body)
    }
    const { method, url: path, headers } = call
    const to = { socketPath: this.#target, method, path, headers, agent: false } as const
    const forwarded = request(to, (answer) => {
      const pass = () => {
        reply.writeHead(answer.statusCode ?? 502, answer.headers)
        reply.flushHeaders()
        answer.pipe(reply)
      }
      if (fault?.kind === 'drop-after') answer.resume().on('end', () => call.destroy())
      else if (fault?.kind === 'delay-reply') setTimeout(pass, fault.ms)
      else pass()
    })
    forwarded.on('error', () => reply.destroy())
    if (!fault) reply.on('close', () => forwarded.destroy())
    call.pipe(forwarded)
  }

  /** Byte by byte, as the body of such a call may come at any time. */
  #tunnel({ method, url, rawHeaders }: IncomingMessage, client: Duplex, head: Buffer): void {
    const engine = createConnection({ path: this.#target, allowHalfOpen: true })
    const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`))
    // In one write, as the client sent it: the Engine takes what follows the end of an empty body for input.
    const start = Buffer.from(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`)
    engine.write(Buffer.concat([start, head]))
    client.pipe(engine).pipe(client)
    for (const [one, other] of [
      [client, engine],
      [engine, client],
    ] as const) {
      this.#tunnels.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        this.#tunnels.delete(one)
        other.destroy()
      })
    }
  }
}
