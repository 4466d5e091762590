// Prints where a Docker engine is looked for, in order of precedence, one place a line, tab separated:
//   name, address, "answers", engine version, API version
//   name, address, "silent", what went wrong
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { homedir } from 'node:os'
import { join } from 'node:path'

const TIMEOUT_MS = 5000
const KINDS = ['tcp:', 'http:', 'https:']
const env = process.env
const configFolder = env.DOCKER_CONFIG || join(homedir(), '.docker')

for (const place of [hostPlace(), contextPlace(), defaultPlace()].filter(Boolean)) {
  const answer = place.problem ? ['silent', place.problem] : await probe(place)
  process.stdout.write(`${[place.name, place.address, ...answer].join('\t')}\n`)
}

function hostPlace() {
  if (!env.DOCKER_HOST) return null
  const certificates = env.DOCKER_TLS_VERIFY ? env.DOCKER_CERT_PATH || configFolder : null
  return { name: 'DOCKER_HOST', address: env.DOCKER_HOST, certificates, verify: true }
}

function contextPlace() {
  const context = env.DOCKER_CONTEXT || readJson(join(configFolder, 'config.json'))?.currentContext
  if (!context || context === 'default') return null
  const name = `docker context "${context}"`
  const id = createHash('sha256').update(context).digest('hex')
  const file = join(configFolder, 'contexts', 'meta', id, 'meta.json')
  const endpoint = readJson(file)?.Endpoints?.docker
  if (!endpoint?.Host) return { name, address: file, problem: 'no such context' }
  const certificates = join(configFolder, 'contexts', 'tls', id, 'docker')
  return { name, address: endpoint.Host, certificates, verify: !endpoint.SkipTLSVerify }
}

function defaultPlace() {
  return { name: 'default socket', address: 'unix:///var/run/docker.sock' }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

async function probe(place) {
  try {
    const { Version, ApiVersion } = JSON.parse(await askVersion(place))
    if (!Version || !ApiVersion) throw new Error('what answers is no Docker engine')
    return ['answers', Version, ApiVersion]
  } catch (error) {
    const problem = error instanceof SyntaxError ? 'what answers is no Docker engine' : error.message
    return ['silent', oneLine(problem || error.code)]
  }
}

function askVersion(place) {
  const url = new URL(place.address.includes('://') ? place.address : `tcp://${place.address}`)
  if (url.protocol === 'unix:') return get(http, { socketPath: decodeURIComponent(url.pathname) })
  if (url.protocol === 'ssh:') return askThroughDocker(place.address)
  if (!KINDS.includes(url.protocol)) throw new Error(`unknown kind of address ${url.protocol}//`)
  const tls = tlsOptions(place)
  const secure = url.protocol === 'https:' || tls !== null
  const port = url.port || (secure ? 2376 : 2375)
  return get(secure ? https : http, { host: url.hostname.replace(/^\[|\]$/g, ''), port, ...tls })
}

function tlsOptions({ certificates, verify }) {
  if (!certificates || !existsSync(certificates)) return null
  const read = (name) => {
    const file = join(certificates, name)
    return existsSync(file) ? readFileSync(file) : undefined
  }
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem'), rejectUnauthorized: verify }
}

function get(client, options) {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const request = client.get({ ...options, path: '/version', signal, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => resolve(body))
      response.on('error', reject)
    })
    request.on('error', (error) => {
      reject(signal.aborted ? new Error(`no answer within ${TIMEOUT_MS / 1000} s`) : error)
    })
  })
}

// Only the docker command line speaks to an engine over SSH.
function askThroughDocker(address) {
  const args = ['--host', address, 'version', '--format', '{{json .Server}}']
  const result = spawnSync('docker', args, { encoding: 'utf8', timeout: 4 * TIMEOUT_MS })
  if (result.error?.code === 'ENOENT') throw new Error('an address over SSH needs the docker command line')
  if (result.status === 0) return result.stdout
  throw new Error(result.stderr || result.error?.message || `docker version ended with ${result.status}`)
}

function oneLine(text) {
  return String(text).replace(/\s+/g, ' ').trim()
}
