import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** An answer that stands in for the next request of a manifest. */
export interface Fault {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Ends the connection in place of an answer. */
  readonly reset?: boolean
}

const MANIFEST_TYPE = 'application/vnd.docker.distribution.manifest.v2+json'
const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

async function layer(): Promise<Buffer> {
  const archive = pack()
  archive.entry({ name: 'hello' }, `hello ${Math.random()}`)
  archive.finalize()
  const chunks: Uint8Array[] = []
  for await (const chunk of archive) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

/** A registry of one tiny image, `127.0.0.1:PORT/thing:latest`, that counts what it is asked and fails when told to. */
export class FakeRegistry implements AsyncDisposable {
  readonly faults: Fault[] = []
  manifestRequests = 0
  readonly #server: Server
  readonly #blobs = new Map<string, Buffer>()
  #manifest: Buffer = Buffer.alloc(0)

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  static async start(platform = { os: 'linux', architecture: 'amd64' }): Promise<FakeRegistry> {
    const registry = new FakeRegistry()
    const tar = await layer()
    const compressed = gzipSync(tar)
    const config = Buffer.from(
      JSON.stringify({ ...platform, config: {}, rootfs: { type: 'layers', diff_ids: [digestOf(tar)] } }),
    )
    for (const blob of [compressed, config]) registry.#blobs.set(digestOf(blob), blob)
    const descriptor = (mediaType: string, blob: Buffer) => ({
      mediaType,
      size: blob.length,
      digest: digestOf(blob),
    })
    registry.#manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST_TYPE,
        config: descriptor('application/vnd.docker.container.image.v1+json', config),
        layers: [descriptor('application/vnd.docker.image.rootfs.diff.tar.gzip', compressed)],
      }),
    )
    await new Promise<void>((resolve) => registry.#server.listen(0, '127.0.0.1', resolve))
    return registry
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get image(): string {
    return `${this.address}/thing:latest`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? ''
    if (path === '/v2/') return void response.end('{}')
    const blob = this.#blobs.get(path.split('/').at(-1) ?? '')
    if (path.includes('/manifests/')) this.#answerManifest(path, response)
    else if (blob) response.end(blob)
    else response.writeHead(404).end('{"errors":[{"code":"BLOB_UNKNOWN","message":"blob unknown"}]}')
  }

  #answerManifest(path: string, response: ServerResponse): void {
    this.manifestRequests += 1
    const fault = this.faults.shift()
    if (fault?.reset) return void response.destroy()
    if (fault) return void response.writeHead(fault.status, fault.headers).end(fault.body)
    if (!path.startsWith('/v2/thing/')) {
      const error = { code: 'MANIFEST_UNKNOWN', message: 'this registry has no such thing' }
      return void response
        .writeHead(404, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ errors: [error] }))
    }
    const headers = {
      'Content-Type': MANIFEST_TYPE,
      'Content-Length': this.#manifest.length,
      'Docker-Content-Digest': digestOf(this.#manifest),
    }
    response.writeHead(200, headers).end(this.#manifest)
  }
}
