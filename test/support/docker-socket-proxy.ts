import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The socket of the engine that the tests use. */
export const ENGINE_SOCKET = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').replace('unix://', '')

/** A unix socket in front of another, whose connections a test can break. */
export class SocketProxy implements AsyncDisposable {
  readonly path: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(path: string, target: string) {
    this.path = path
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      const upstream = createConnection({ path: target, allowHalfOpen: true })
      client.pipe(upstream)
      upstream.pipe(client)
      for (const [socket, peer] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(socket)
        socket.on('error', () => peer.destroy())
        socket.on('close', () => {
          this.#sockets.delete(socket)
          peer.destroy()
        })
      }
    })
  }

  static async start(target: string): Promise<SocketProxy> {
    const folder = await mkdtemp(join(tmpdir(), 'belljar-proxy-'))
    const proxy = new SocketProxy(join(folder, 'docker.sock'), target)
    await new Promise<void>((resolve) => proxy.#server.listen(proxy.path, resolve))
    return proxy
  }

  /** Breaks the connections that are open; new ones work. */
  resetAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Breaks all and takes no more. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.resetAll()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(dirname(this.path), { recursive: true })
  }
}
