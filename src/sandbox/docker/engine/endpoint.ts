import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../../errors.ts'
import { activeContext } from './docker-context.ts'

export interface EngineEndpoint {
  /** Such as `DOCKER_HOST unix:///run/docker.sock`: what is tried, and what named it. */
  readonly description: string
  /** As DOCKER_HOST has it. */
  readonly url: string
  readonly address: { readonly socketPath: string } | { readonly host: string; readonly port: number }
  readonly tls?: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer }
}

const DEFAULT_SOCKET = '/var/run/docker.sock'

function certificatesIn(folder: string): NonNullable<EngineEndpoint['tls']> | undefined {
  const read = (name: string) => {
    const file = join(folder, name)
    return existsSync(file) ? readFileSync(file) : undefined
  }
  const [ca, cert, key] = [read('ca.pem'), read('cert.pem'), read('key.pem')]
  if (!ca && !cert && !key) return undefined
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
}

function parseHost(url: string, source: string, certificates: string | undefined): EngineEndpoint {
  const description = `${source} ${url}`
  if (url.startsWith('unix://')) {
    return { description, url, address: { socketPath: url.slice('unix://'.length) || DEFAULT_SOCKET } }
  }
  if (url.startsWith('ssh://')) {
    throw new ConfigError(
      `${description}: ssh:// engines are not supported; forward the socket (ssh -NL /tmp/docker.sock:/var/run/docker.sock HOST) and set DOCKER_HOST=unix:///tmp/docker.sock`,
    )
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !['tcp:', 'http:', 'https:'].includes(parsed.protocol) || !parsed.hostname) {
    throw new ConfigError(`${description}: expected unix:///PATH or tcp://HOST:PORT`)
  }
  const tls = certificates ? certificatesIn(certificates) : undefined
  const port = Number(parsed.port || (tls ? 2376 : 2375))
  return { description, url, address: { host: parsed.hostname, port }, ...(tls && { tls }) }
}

/** DOCKER_HOST, else the active docker context, else the default socket. @throws ConfigError */
export function chooseEndpoint(environment: NodeJS.ProcessEnv, home: string): EngineEndpoint {
  if (environment.DOCKER_HOST) {
    const wantsTls = Boolean(environment.DOCKER_TLS_VERIFY)
    const folder = environment.DOCKER_CERT_PATH ?? environment.DOCKER_CONFIG ?? join(home, '.docker')
    return parseHost(environment.DOCKER_HOST, 'DOCKER_HOST', wantsTls ? folder : undefined)
  }
  const context = activeContext(environment, home)
  if (context) {
    return parseHost(context.host, `docker context '${context.name}'`, context.certificates)
  }
  return parseHost(`unix://${DEFAULT_SOCKET}`, 'default socket', undefined)
}

/** What was looked at before the choice, for an error that must say so. */
export function describeSearch(environment: NodeJS.ProcessEnv, endpoint: EngineEndpoint): string {
  const places = [
    environment.DOCKER_HOST ? endpoint.description : 'DOCKER_HOST (not set)',
    ...(environment.DOCKER_HOST
      ? []
      : [
          endpoint.description.startsWith('docker context')
            ? endpoint.description
            : 'active docker context (none)',
        ]),
    ...(endpoint.description.startsWith('default') ? [endpoint.description] : []),
  ]
  return places.join('; ')
}
