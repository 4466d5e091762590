import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { Engine, type EngineFacts } from '../../src/sandbox/docker/engine/engine.ts'
import { tempDir } from './temp-dir.ts'

const FACTS: EngineFacts = {
  version: '26.1.5',
  apiVersion: '1.45',
  os: 'linux',
  architecture: 'amd64',
  cpus: 2,
  memoryBytes: 1024 ** 3,
  cgroupVersion: '1',
  buildkit: true,
  runtimes: ['runc'],
  storageDriver: 'overlay2',
  dataRoot: '/var/lib/docker',
}

/** A client of an engine that answers as a test says; `METHOD /path` without the version of the API. */
export async function fakeEngine(
  answer: (call: string, reply: ServerResponse) => void,
): Promise<AsyncDisposable & { engine: Engine; calls: string[] }> {
  const folder = await tempDir()
  const calls: string[] = []
  const server = createServer((request: IncomingMessage, reply) => {
    const call = `${request.method} ${request.url?.replace(/^\/v[\d.]+/, '')}`
    calls.push(call)
    request.resume()
    answer(call, reply)
  })
  const socketPath = join(folder.path, 'engine.sock')
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  const url = `unix://${socketPath}`
  const engine = new Engine({ description: url, url, address: { socketPath } }, FACTS)
  return {
    engine,
    calls,
    [Symbol.asyncDispose]: async () => {
      engine.close()
      server.closeAllConnections()
      server.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}
