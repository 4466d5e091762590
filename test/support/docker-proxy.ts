import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { type Fault, passOn } from './docker-faults.ts'
import { ENGINE_SOCKET } from './docker-socket-proxy.ts'
import { tunnel } from './docker-tunnel.ts'

export interface FaultRule {
  readonly method: string
  /** Of the path without its version, query included. */
  readonly path: RegExp
  readonly fault: Fault
  /** How many calls it is for (default: all). */
  readonly times?: number
}

/** Decides for each call; `path` is without its version. */
export type FaultChoice = (call: { method: string; path: string }) => Fault | undefined

/** The Engine behind a unix socket on which chosen calls go wrong. */
export class DockerProxy implements AsyncDisposable {
  readonly path: string
  /** `METHOD /path` of the calls that met a fault, as they came. */
  readonly hits: string[] = []
  /** The most calls that were under way at once: looks, changes, and starts of containers among these; streams are none of them. */
  readonly mostAtOnce = { looks: 0, changes: 0, starts: 0 }
  readonly #atOnce = { looks: 0, changes: 0, starts: 0 }
  readonly #target: string
  readonly #server: Server
  readonly #choose: FaultChoice
  readonly #tunnels = new Set<Duplex>()

  private constructor(path: string, target: string, choose: FaultChoice) {
    this.path = path
    this.#target = target
    this.#choose = choose
    this.#server = createServer((call, reply) => {
      this.#count(call, reply)
      passOn(call, reply, { target: this.#target, fault: this.#faultFor(call) })
    })
    this.#server.on('upgrade', (call, socket, head) => {
      const fault = this.#faultFor(call)
      for (const end of tunnel(call, socket, { target: this.#target, head, fault })) {
        this.#tunnels.add(end)
        end.once('close', () => this.#tunnels.delete(end))
      }
    })
    this.#server.requestTimeout = 0
  }

  static async start(
    faults: readonly FaultRule[] | FaultChoice,
    target = ENGINE_SOCKET,
  ): Promise<DockerProxy> {
    const folder = await mkdtemp(join(tmpdir(), 'belljar-docker-proxy-'))
    const choose = typeof faults === 'function' ? faults : byRules(faults)
    const proxy = new DockerProxy(join(folder, 'docker.sock'), target, choose)
    await proxy.open()
    return proxy
  }

  /** As DOCKER_HOST has it. */
  get host(): string {
    return `unix://${this.path}`
  }

  /** Breaks the streams that are open; new ones work. */
  resetTunnels(): void {
    for (const end of this.#tunnels) end.destroy()
  }

  /** Breaks all connections and takes no more, until `open`. */
  async shut(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    this.resetTunnels()
    await closed
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.path, resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shut()
    await rm(dirname(this.path), { recursive: true, force: true })
  }

  #count({ method = '', url = '' }: IncomingMessage, reply: ServerResponse): void {
    if (STREAMS.test(url)) return
    const kinds = method === 'GET' || method === 'HEAD' ? (['looks'] as const) : changesOf(url)
    for (const kind of kinds) {
      this.#atOnce[kind] += 1
      this.mostAtOnce[kind] = Math.max(this.mostAtOnce[kind], this.#atOnce[kind])
      reply.once('close', () => {
        this.#atOnce[kind] -= 1
      })
    }
  }

  #faultFor({ method = '', url = '' }: IncomingMessage): Fault | undefined {
    const path = url.replace(/^\/v[\d.]+/, '')
    const fault = this.#choose({ method, path })
    if (fault) this.hits.push(`${method} ${path}`)
    return fault
  }
}

/** What may be open for long, or carries much. */
const STREAMS = /\/(events|wait|attach|archive|logs|build|images\/create)\b/

function changesOf(url: string): readonly ('changes' | 'starts')[] {
  return /\/containers\/\w+\/start$/.test(url) ? ['changes', 'starts'] : ['changes']
}

function byRules(rules: readonly FaultRule[]): FaultChoice {
  const counted = rules.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }))
  return ({ method, path }) => {
    const found = counted.find(({ rule, left }) => left > 0 && rule.method === method && rule.path.test(path))
    if (!found) return undefined
    found.left -= 1
    return found.rule.fault
  }
}
