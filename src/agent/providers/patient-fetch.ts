import { Agent, EnvHttpProxyAgent, fetch, type RequestInit } from 'undici'

const CONNECT_TIMEOUT_MS = 30_000
const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']

let agent: Agent | EnvHttpProxyAgent | undefined

/**
 * `fetch` without deadlines of its own: Node's ends a call whose headers take longer than five minutes, which models that reason take
 * (https://github.com/vercel/ai/issues/4224). Deadlines are the caller's, by the signal.
 */
export const patientFetch: typeof globalThis.fetch = async (input, init) => {
  const options = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_TIMEOUT_MS } }
  const isProxied = PROXY_VARIABLES.some((name) => process.env[name])
  agent ??= isProxied ? new EnvHttpProxyAgent(options) : new Agent(options)
  const response = await fetch(String(input), { ...(init as RequestInit), dispatcher: agent })
  return response as unknown as Response
}
