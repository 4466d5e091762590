import type http from 'node:http'
import type Docker from 'dockerode'

interface DialOptions {
  readonly method?: string
  readonly path?: string
  readonly isStream?: boolean
  readonly hijack?: boolean
}

type Dial = (options: DialOptions, callback: (error: unknown, data: unknown) => void) => void

/** Docker-modem listens to the request alone: it would wait for ever for an answer that breaks off in its midst. */
export function tellBrokenAnswer(request: http.ClientRequest): void {
  request.on('response', (answer: http.IncomingMessage) => {
    answer.on('error', (cause) => request.emit('error', new Error('the answer broke off', { cause })))
  })
}

/** Docker-modem passes an answer that is no JSON on as bytes, of which every field is then `undefined`: here it is an error. */
export function refuseUnreadable(client: Docker): void {
  const modem = client.modem as unknown as { dial: Dial }
  const dial = modem.dial.bind(modem)
  modem.dial = (options, callback) =>
    dial(options, (error, data) => {
      if (error || isReadable(options, data)) callback(error, data)
      else callback(new Error('the answer cannot be read (it is no JSON)'), null)
    })
}

/** What is not text of the Engine's own. */
const RAW = /^(\/v[\d.]+)?\/(_ping$|containers\/[^/]+\/logs\b)/

/** What is asked to make something is told what it made. */
const MAKES = /\/(create|exec)(\?|$)/

function isReadable({ method, path = '', isStream, hijack }: DialOptions, data: unknown): boolean {
  if (isStream || hijack || !Buffer.isBuffer(data) || RAW.test(path)) return true
  const text = data.toString().trim()
  // It takes the word null for something unreadable.
  return text === 'null' || (text === '' && method !== 'GET' && !MAKES.test(path))
}
