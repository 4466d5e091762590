import http from 'node:http'
import https from 'node:https'
import type { ObjectKind, ReaperEngine } from './messages.ts'
import type { EngineCalls, ReapedObject } from './reap.ts'

const DEADLINE_MS = 30_000
const AT_ONCE = 8

interface Answer {
  readonly status: number
  readonly body: string
}

interface Listed {
  readonly Id?: string
  readonly Name?: string
  readonly Names?: readonly string[]
  readonly Labels?: Readonly<Record<string, string>> | null
}

const PATHS: Readonly<Record<ObjectKind, (id: string) => string>> = {
  container: (id) => `/containers/${id}?force=1&v=1`,
  network: (id) => `/networks/${id}`,
  volume: (id) => `/volumes/${encodeURIComponent(id)}?force=1`,
}

/** The few calls that removing needs. */
export function engineCalls(engine: ReaperEngine, run: string): EngineCalls {
  const send = sender(engine)
  const filters = encodeURIComponent(JSON.stringify({ label: [`belljar.run=${run}`] }))
  const list = async (path: string) => {
    const { status, body } = await send('GET', path)
    if (status !== 200) throw new Error(`${path}: ${status}`)
    return JSON.parse(body) as unknown
  }
  return {
    list: async () => {
      const containers = (await list(`/containers/json?all=1&filters=${filters}`)) as Listed[]
      const networks = (await list(`/networks?filters=${filters}`)) as Listed[]
      const volumes = (await list(`/volumes?filters=${filters}`)) as { Volumes?: Listed[] | null }
      return [
        ...containers.map((one) => reaped('container', one)),
        ...networks.map((one) => reaped('network', one)),
        ...(volumes.Volumes ?? []).map((one) => reaped('volume', one)),
      ]
    },
    remove: async ({ kind, id }) => {
      const { status, body } = await send('DELETE', PATHS[kind](id))
      if (status !== 404 && (status < 200 || status > 299))
        throw new Error(`${kind} ${id}: ${status} ${body}`)
    },
  }
}

function reaped(kind: ObjectKind, { Id, Name, Names, Labels }: Listed): ReapedObject {
  const name = (Name ?? Names?.[0] ?? '').replace(/^\//, '')
  return { kind, id: Id ?? name, name, project: Labels?.['com.docker.compose.project'] }
}

function sender({
  address,
  apiVersion,
  tls,
}: ReaperEngine): (method: string, path: string) => Promise<Answer> {
  const { request, Agent } = tls ? https : http
  const secrets = Object.fromEntries(
    Object.entries(tls ?? {}).map(([name, text]) => [name, Buffer.from(text, 'base64')]),
  )
  const agent = new Agent({ maxSockets: AT_ONCE })
  return (method, path) =>
    new Promise((resolve, reject) => {
      const options = { ...address, ...secrets, agent, method, path: `/v${apiVersion}${path}` }
      const call = request({ ...options, signal: AbortSignal.timeout(DEADLINE_MS) }, (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
        response.on('error', reject)
      })
      call.on('error', reject).end()
    })
}
